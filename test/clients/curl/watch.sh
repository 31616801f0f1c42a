curl -s -N "$URL/graphql" -H "X-Api-Key: $KEY" -H 'Content-Type: application/json' -H 'Accept: text/event-stream' \
  -d "{\"query\": \"subscription(\$event: ID!) { rateAvailability(eventId: \$event) { ticketRateId available left } }\",
    \"variables\": {\"event\": \"$EVENT\"}}"
