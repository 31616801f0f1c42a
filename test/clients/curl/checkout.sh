curl -s --max-time 10 --retry 3 "$URL/tickets/checkout" -H "X-Api-Key: $KEY" -H 'Content-Type: application/json' \
  -H "Idempotency-Key: $ORDER" \
  -d "{\"ticket_rate_id\": \"$RATE\", \"tickets\": [
    {\"price_id\": \"$PRICE\", \"full_name\": \"Ana Núñez\", \"email\": \"$EMAIL\"}]}"
