set -eu
rm -rf generated dist
mkdir generated
echo '{}' > generated/documents.json
npx relay-compiler relay.config.json
npx babel . --out-dir dist/relay --extensions .ts
npx babel ../patient-fetch.ts --out-dir dist --extensions .ts
