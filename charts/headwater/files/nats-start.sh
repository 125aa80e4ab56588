# Starts nats-server, and makes it read its certificates again after they change.
# Usage: nats-start.sh <configuration> <directory of the certificates> <seconds between checks>
(
  # $$ is the process that becomes nats-server below.
  before=$(cat "$2"/*)
  while sleep "$3" && kill -0 $$ 2>/dev/null; do
    now=$(cat "$2"/*)
    [ "$now" = "$before" ] || kill -HUP $$
    before=$now
  done
) &
exec nats-server --config "$1"
