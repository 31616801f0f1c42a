curl -s -N "$URL/graphql" -H "X-Api-Key: $KEY" -H 'Content-Type: application/json' -H 'Accept: text/event-stream' \
  -d "{\"query\": \"subscription(\$event: ID!) { ticketRates(of: { eventId: \$event }) { id status availability { available } } }\",
    \"variables\": {\"event\": \"$EVENT\"}}"
