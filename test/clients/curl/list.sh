curl -s --max-time 10 --retry 3 -G "$URL/events" -H "X-Api-Key: $KEY" --data-urlencode "search=$SEARCH" -d 'populate=*' -d limit=1
