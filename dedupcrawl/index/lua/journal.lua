-- KEYS: meta, rows, … ARGV: epoch, how many rows the client knows, …
local known = tonumber(ARGV[2])
local count = redis.call('HLEN', KEYS[2])
local meta = redis.call('HMGET', KEYS[1], 'epoch', RESTORED)
local restored = tonumber(meta[2] or 0)
if meta[1] ~= ARGV[1] or known > count then return {'lost'} end

local function unknown_rows()
  local rows, bytes, first = {}, 0, known
  while first < count and bytes < BYTES_AT_ONCE do
    local ids = {}
    for id = first, math.min(first + 64, count) - 1 do ids[#ids + 1] = id end
    for _, row in ipairs(redis.call('HMGET', KEYS[2], unpack(ids))) do
      rows[#rows + 1] = row
      bytes = bytes + #row
    end
    first = first + #ids
  end
  return rows
end
