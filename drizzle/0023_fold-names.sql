-- migrate: no transaction
-- The city filter is blind to accents. "locations_city" serves processes of before.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "locations_city_folded" ON "locations" USING btree ((regexp_replace(lower(normalize("city"::text, NFKD)), '[\u0300-\u036f]', '', 'g')));
--> statement-breakpoint
-- Folds what is there as the service folds names from now on (search-words.ts): without the points of Hebrew, the vowel
-- signs and hamzas of Arabic, and characters that nobody sees. Only names with such characters are written.
UPDATE "tickets" SET "search_name" = trim(regexp_replace(translate(regexp_replace(
	"search_name", '[\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed]', '', 'g'),
	U&'\0671\0649\06CC\06A9\0629', U&'\0627\064A\064A\0643\0647'), ' +', ' ', 'g'))
WHERE "search_name" ~ '[\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u0629\u0640\u0649\u064b-\u065f\u0670\u0671\u06a9\u06cc\u06d6-\u06ed]';
--> statement-breakpoint
-- The words of events, and of those in scripts without spaces also their ends, of 32 characters at most.
UPDATE "events" SET "search_words" = coalesce((
	WITH "words" AS (
		SELECT "word", "word" ~ '[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u3400-\u9fff\U00020000-\U0003ffff]' AS "is_unspaced"
		FROM regexp_split_to_table(replace(replace(replace(translate(regexp_replace(lower(normalize("name", NFKD)),
			'[\u00ad\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u061c\u0640\u064b-\u065f\u0670\u06d6-\u06ed\u200b-\u200f\u2060\ufeff]', '', 'g'),
			U&'\00F8\0142\0111\00F0\0127\0167\014B\0131\0671\0649\06CC\06A9\0629', U&'olddhtni\0627\064A\064A\0643\0647'),
			U&'\00DF', 'ss'), U&'\00E6', 'ae'), U&'\0153', 'oe'),
			'[^[:alnum:]\u00c0-\u02af\u0370-\u060b\u060d-\u061a\u0620-\u1fff\u2c00-\u2dff\u3005-\u3007\u3041-\u309a\u309d-\u30fa\u30fc-\ud7a3\U00020000-\U0003ffff]+') AS "word"
		WHERE "word" <> ''
	)
	SELECT array_to_tsvector(array_agg(DISTINCT substr("word", "start", CASE WHEN "is_unspaced" THEN 32 ELSE 100 END)))
	FROM "words", generate_series(1, CASE WHEN "is_unspaced" THEN least(length("word"), 200) ELSE 1 END) AS "start"
	WHERE "start" = 1 OR (substr("word", "start" - 1, 2) ~ '[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u3400-\u9fff\U00020000-\U0003ffff]'
		AND substr("word", "start", 1) !~ '[\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u17b4-\u17d3\u3099\u309a]')
), ''::tsvector)
WHERE normalize("name", NFKD) ~ '[\u00ad\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u061c\u0629\u0640\u0649\u064b-\u065f\u0670\u0671\u06a9\u06cc\u06d6-\u06ed\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u200b-\u200f\u3005-\u3007\u3041-\u30ff\u3400-\u9fff\U00020000-\U0003ffff]';
