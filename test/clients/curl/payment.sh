curl -s "$URL/graphql" -H "X-Api-Key: $KEY" -H 'Content-Type: application/json' \
  -d "{\"query\": \"query(\$id: ID!) { payment(id: \$id) { status totalAmount } }\", \"variables\": {\"id\": \"$PAYMENT\"}}"
