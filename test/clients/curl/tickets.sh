curl -s --max-time 10 --retry 3 -G "$URL/tickets" -H "X-Api-Key: $KEY" -d "payment_id=$PAYMENT"
