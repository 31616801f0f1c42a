set -eu
npx gql.tada generate-output --tsconfig tsconfig.json
