curl -s -G "$URL/integrations/events/$EVENT/scan-list" -H "X-Api-Key: $DOOR" -d "since=$CURSOR"
