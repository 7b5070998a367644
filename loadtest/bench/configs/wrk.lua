-- Prints wrk's results as one line of JSON: its own output rounds them and changes units.
function done(summary)
  local errors = summary.errors
  io.write(string.format('\n{"requests":%d,"seconds":%f,"failed":%d}\n', summary.requests, summary.duration / 1e6,
    errors.status + errors.connect + errors.read + errors.write + errors.timeout))
end

-- Posts the envelope as the browser's SDK does. The request is built once: Lua per request would be the bottleneck.
function init(arguments)
  if arguments[1] ~= "post" then return end
  wrk.method = "POST"
  wrk.headers["Content-Type"] = "text/plain;charset=UTF-8"
  wrk.body = assert(io.open("/files/envelope")):read("*a")
end
