-- Decimals that the amounts of each organization are stored with: those of ISO 4217, as src/shared/currencies.ts has them.
-- The release before took them from Intl, which differs between releases of Node (CHANGELOG.md says for which currencies).
ALTER TABLE "organizations" ADD COLUMN "decimals" integer;
--> statement-breakpoint
UPDATE "organizations" SET "decimals" = CASE
	WHEN "currency" IN ('BIF', 'CLP', 'DJF', 'GNF', 'ISK', 'JPY', 'KMF', 'KRW', 'PYG', 'RWF', 'UGX', 'UYI', 'VND', 'VUV', 'XAF', 'XOF', 'XPF') THEN 0
	WHEN "currency" IN ('BHD', 'IQD', 'JOD', 'KWD', 'LYD', 'OMR', 'TND') THEN 3
	WHEN "currency" IN ('CLF', 'UYW') THEN 4
	ELSE 2
END;
