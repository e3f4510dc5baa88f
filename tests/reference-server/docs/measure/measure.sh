#!/usr/bin/env bash
# Measures the figures of ../measurements.md: `bash measure.sh PATH-TO-PROGRAM`. It needs wrk, curl and python3.
# All connections use loopback, and the script stops the servers that it starts.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
binary=$1
server=

start() { # server options
    local out
    out=$(mktemp)
    "$binary" --port-base 4310 --token-lifetime 300 "$@" >"$out" 2>/dev/null &
    server=$!
    until curl -fs http://127.0.0.1:4314/-/health >/dev/null; do sleep 0.05; done
    # shellcheck disable=SC1090
    . "$out"
    rm "$out"
}
stop() { kill "$server" && wait "$server" || true; server=; }
trap '[ -z "$server" ] || kill "$server"' EXIT

token() { # audience
    curl -fs -u "$SUITE_CLIENT_ID:$SUITE_CLIENT_SECRET" -d grant_type=client_credentials -d "audience=$1" \
        "$SUITE_CORE_URL/oauth/token" | sed 's/.*"access_token":"\([^"]*\)".*/\1/'
}
# The CPU time of the server so far, in milliseconds. It depends on the machine, and hardly on other load.
cpu() { awk -v tick="$(getconf CLK_TCK)" '{print ($14 + $15) * 1000 / tick}' "/proc/$server/stat"; }
rss() { awk '/VmRSS/ {print $2 " kB"}' "/proc/$server/status"; }
load() { # mix, origin, count, number of the first request
    local before
    before=$(cpu)
    MIX=$1 COUNT=$3 FIRST=$4 TOKEN=$(token "$2") PERSON=$person \
        wrk -t1 -c32 -d300s -s load.lua "$2" | grep "per second"
    awk -v before="$before" -v after="$(cpu)" -v count="$3" \
        'BEGIN {printf "server: %.0f us of CPU per request\n", (after - before) * 1000 / count}'
}
ask() { # path; sends ten requests
    local before bearer
    bearer=$(token "$SUITE_CRM_URL")
    before=$(cpu)
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        curl -fs -o /dev/null -H "Authorization: Bearer $bearer" "$SUITE_CRM_URL/api/crm/v1$1"
    done
    awk -v before="$before" -v after="$(cpu)" -v path="$1" \
        'BEGIN {printf "%s: %.0f ms of CPU\n", path, (after - before) / 10}'
}

for mix in reads page commands; do
    start
    person=$(curl -fs -H "Authorization: Bearer $(token "$SUITE_CRM_URL")" "$SUITE_CRM_URL/api/crm/v1/people?limit=1" |
        sed 's/.*"publicReference":"\(PER-[^"]*\)".*/\1/')
    origin=$SUITE_CRM_URL
    [ "$mix" != commands ] || origin=$SUITE_CALENDAR_URL
    echo "== $mix; memory at the start: $(rss)"
    load "$mix" "$origin" 20000 0
    echo "memory at 20,000: $(rss)"
    load "$mix" "$origin" 180000 20000
    echo "memory at 200,000: $(rss)"
    if [ "$mix" = commands ]; then # stored results are limited, so the second half takes no more memory
        load "$mix" "$origin" 200000 200000
        echo "memory at 400,000: $(rss)"
    fi
    stop
done

start --people 1000000
echo "== 1,000,000 people; memory at the start: $(rss)"
for path in "/people?limit=50" "/people?q=zzzz" "/search?q=zzzz" /today /actors /funnel; do ask "$path"; done
python3 walk.py "$SUITE_CRM_URL" "$(token "$SUITE_CRM_URL")" "$server"
echo "memory after listing all people: $(rss)"
stop

start --people 1000000 --organizations 1000000 --opportunities 1000000 --tasks 1000000 --intake-submissions 1000000
echo "== 1,000,000 records of every kind"
for path in "/people?q=zzzz" "/opportunities?q=zzzz" "/search?q=zzzz" /today /actors /funnel; do ask "$path"; done
echo "memory: $(rss)"
stop
