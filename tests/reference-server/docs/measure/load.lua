-- A wrk script that sends COUNT requests, then stops. MIX is reads, page or commands, and TOKEN is a bearer token.
local count = tonumber(os.getenv("COUNT"))
local mix = os.getenv("MIX")
local first = tonumber(os.getenv("FIRST") or "0")
local sent, received, rejected = 0, 0, 0

-- wrk can only run for a duration, so this script counts the requests and measures the time.
local ffi = require("ffi")
ffi.cdef("typedef struct { long seconds; long micros; } now_t; int gettimeofday(now_t *, void *);")
local function now()
  local time = ffi.new("now_t")
  ffi.C.gettimeofday(time, nil)
  return tonumber(time.seconds) + tonumber(time.micros) / 1e6
end
local started

local crm = { ["authorization"] = "Bearer " .. os.getenv("TOKEN") }
local paths = {
  "/api/crm/v1/people?limit=50", "/api/crm/v1/people/" .. (os.getenv("PERSON") or ""), "/api/crm/v1/today",
  "/api/crm/v1/people?q=an&limit=25", "/api/crm/v1/opportunities?owner=none", "/api/crm/v1/tasks", "/api/crm/v1/funnel",
  "/api/crm/v1/search?q=an", "/api/crm/v1/presentation", "/api/health",
}

function request()
  started = started or now()
  sent = sent + 1
  local number = first + sent
  if mix == "commands" then
    local headers = {
      ["authorization"] = crm["authorization"], ["content-type"] = "application/json",
      ["idempotency-key"] = string.format("load-key-%012d", number),
    }
    local minute = number % 60
    local body = string.format(
      '{"operation":"create","collectionReference":"load","title":"Event %d","timezone":"UTC",' ..
      '"startsAt":"2026-02-01T09:%02d:00Z","endsAt":"2026-02-01T10:%02d:00Z"}', number, minute, minute)
    return wrk.format("POST", "/calendar/v1/event-commands", headers, body)
  end
  local path = paths[1]
  if mix == "reads" then path = paths[number % #paths + 1] end
  return wrk.format("GET", path, crm)
end

function response(status)
  received = received + 1
  if status >= 400 then rejected = rejected + 1 end
  if received >= count then
    local seconds = now() - started
    print(string.format("%d requests in %.2f s: %.0f per second, %d rejected", received, seconds, received / seconds, rejected))
    io.stdout:flush()
    os.exit(0)
  end
end
