"""Walks all people, 50 at a time over one connection: walk.py ORIGIN TOKEN. Prints the cost of every hundred-thousandth
part and of the first and last thousand pages."""
import http.client, json, sys, time

origin, token = sys.argv[1:]
connection = http.client.HTTPConnection(origin.removeprefix("http://"))
cursor, people, times, seen = None, 0, [], set()
while True:
    path = "/api/crm/v1/people?limit=50" + (f"&cursor={cursor}" if cursor else "")
    started = time.perf_counter()
    connection.request("GET", path, headers={"authorization": f"Bearer {token}"})
    body = connection.getresponse().read()
    times.append(time.perf_counter() - started)
    page = json.loads(body)
    people += len(page["items"])
    seen.update(item["publicReference"] for item in page["items"])
    cursor = page["nextCursor"]
    if cursor is None:
        break

def median(some):
    return sorted(some)[len(some) // 2] * 1e6

print(f"{people} people ({len(seen)} different) on {len(times)} pages in {sum(times):.1f} s")
print(f"median of a page: first thousand {median(times[:1000]):.0f} us, last thousand {median(times[-1000:]):.0f} us")
