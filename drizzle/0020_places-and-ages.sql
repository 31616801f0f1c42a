ALTER TABLE "events" ADD COLUMN IF NOT EXISTS "minimum_age" integer;
--> statement-breakpoint
-- Abbreviations were taken for time zones as ICU has them, which PostgreSQL reads otherwise or refuses. They become the
-- zones in which buyers have been shown their times.
UPDATE "locations" SET "timezone" = CASE "timezone" WHEN 'ACT' THEN 'Australia/Darwin' WHEN 'AET' THEN 'Australia/Sydney'
  WHEN 'AGT' THEN 'America/Argentina/Buenos_Aires' WHEN 'ART' THEN 'Africa/Cairo' WHEN 'AST' THEN 'America/Anchorage'
  WHEN 'BET' THEN 'America/Sao_Paulo' WHEN 'BST' THEN 'Asia/Dhaka' WHEN 'CAT' THEN 'Africa/Maputo'
  WHEN 'CNT' THEN 'America/St_Johns' WHEN 'CST' THEN 'America/Chicago' WHEN 'CTT' THEN 'Asia/Shanghai'
  WHEN 'EAT' THEN 'Africa/Nairobi' WHEN 'ECT' THEN 'Europe/Paris' WHEN 'IET' THEN 'America/Indiana/Indianapolis'
  WHEN 'IST' THEN 'Asia/Kolkata' WHEN 'JST' THEN 'Asia/Tokyo' WHEN 'MIT' THEN 'Pacific/Apia' WHEN 'NET' THEN 'Asia/Yerevan'
  WHEN 'NST' THEN 'Pacific/Auckland' WHEN 'PLT' THEN 'Asia/Karachi' WHEN 'PNT' THEN 'America/Phoenix'
  WHEN 'PRT' THEN 'America/Puerto_Rico' WHEN 'PST' THEN 'America/Los_Angeles' WHEN 'SST' THEN 'Pacific/Guadalcanal'
  WHEN 'VST' THEN 'Asia/Ho_Chi_Minh' ELSE 'UTC' END
WHERE "timezone" IN ('ACT', 'AET', 'AGT', 'ART', 'AST', 'BET', 'BST', 'CAT', 'CNT', 'CST', 'CTT', 'EAT', 'ECT', 'IET', 'IST',
  'JST', 'MIT', 'NET', 'NST', 'PLT', 'PNT', 'PRT', 'PST', 'SST', 'VST') OR "timezone" LIKE 'SystemV/%';
--> statement-breakpoint
-- Slugs are found composed.
UPDATE "events" SET "slug" = normalize("slug", NFC) WHERE "slug" IS NOT NFC NORMALIZED;
