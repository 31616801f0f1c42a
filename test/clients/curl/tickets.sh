curl -s -G "$URL/tickets" -H "X-Api-Key: $KEY" -d "payment_id=$PAYMENT"
