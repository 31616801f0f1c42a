set -eu
npx openapi-typescript "$URL/openapi.json" --output generated/openapi.ts
