"""Lists all people, 50 per page over one connection: walk.py ORIGIN TOKEN PID-OF-SERVER. Prints the CPU time per page for the
first and the second half of the list."""
import http.client, json, os, sys, time

origin, token, server = sys.argv[1:]
connection = http.client.HTTPConnection(origin.removeprefix("http://"))

def cpu():
    """Returns the CPU time of the server so far, in seconds."""
    fields = open(f"/proc/{server}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

cursor, people, seen = None, 0, set()
marks = [(0, cpu(), time.perf_counter())]
while True:
    path = "/api/crm/v1/people?limit=50" + (f"&cursor={cursor}" if cursor else "")
    connection.request("GET", path, headers={"authorization": f"Bearer {token}"})
    page = json.loads(connection.getresponse().read())
    people += len(page["items"])
    seen.update(item["publicReference"] for item in page["items"])
    cursor = page["nextCursor"]
    if people == 500_000 or cursor is None:
        marks.append((people, cpu(), time.perf_counter()))
    if cursor is None:
        break

print(f"{people} people, {len(seen)} different ones, in {marks[-1][2] - marks[0][2]:.1f} s")
for (before, cpu_before, _), (after, cpu_after, _) in zip(marks, marks[1:]):
    pages = (after - before) / 50
    print(f"people {before} to {after}: {(cpu_after - cpu_before) * 1e6 / pages:.1f} us of server CPU per page")
