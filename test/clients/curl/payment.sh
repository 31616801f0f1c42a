curl -s --max-time 10 --retry 3 "$URL/payments/$PAYMENT" -H "X-Api-Key: $KEY"
