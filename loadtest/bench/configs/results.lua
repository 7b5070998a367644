-- Prints wrk's results as one line of JSON: its own output rounds them and changes units.

function done(summary)
  local errors = summary.errors
  io.write(string.format('\n{"requests":%d,"microseconds":%d,"failed":%d}\n', summary.requests, summary.duration,
    errors.status + errors.connect + errors.read + errors.write + errors.timeout))
end
