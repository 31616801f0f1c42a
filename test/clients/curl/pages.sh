next="$URL/events?limit=20&cursor="
while [ -n "$next" ]; do
  curl -s --max-time 10 --retry 3 -D headers.txt "$next" -H "X-Api-Key: $KEY"
  next=$(sed -n 's/^link: <\([^>]*\)>; rel="next".*/\1/p' headers.txt)
done
rm headers.txt
