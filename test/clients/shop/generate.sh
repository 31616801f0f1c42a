set -eu
npx graphql-codegen --config codegen.ts "$@"
