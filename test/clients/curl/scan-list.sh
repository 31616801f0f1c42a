curl -s -G "$URL/integrations/events/$EVENT/scan-list" -H "X-Api-Key: $DOOR" -d limit=5000
