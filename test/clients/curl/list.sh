curl -s -G "$URL/events" -H "X-Api-Key: $KEY" --data-urlencode "search=$SEARCH" -d 'populate=*' -d limit=1
