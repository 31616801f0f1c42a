curl -s -G "$URL/integrations/tickets.csv" -H "X-Api-Key: $DOOR" -d "event_id=$EVENT"
