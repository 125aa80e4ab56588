# Should this nats-server go on? Usage: nats-alive.sh <monitoring port> <directory of its streams>
#
# A stream that could not be written once, because the disk was full, stores nothing more until the server is started again (seen in
# 2.15). Only the whole /healthz reports it: with js-enabled-only or js-server-only it says ok. But that also waits for streams that catch
# up with other servers, who must not be ended for it. So what counts is its word for write errors, and only when there is room
# again: before that, a restart would not help.
ask() { printf 'GET /healthz%s HTTP/1.0\r\n\r\n' "$2" | nc -w 3 127.0.0.1 "$1"; }

ask "$1" '?js-enabled-only=true' | head -n 1 | grep -q ' 200 ' || { echo "no answer, or JetStream is off"; exit 1; }
error=$(ask "$1" '' | grep 'write error') || exit 0
leastBytes=33554432
roomBytes=$(($(stat -f -c '%a * %S' "$2")))
[ "$roomBytes" -lt "$leastBytes" ] && exit 0
echo "there is room again, and $error"
exit 1
