-- KEYS: meta, rows, window, … ARGV: epoch, known, …
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

local function unknown_tokens()
  local ids = {}
  for id = known, count - 1 do ids[#ids + 1] = id end
  return redis.call('HMGET', KEYS[3], unpack(ids))
end

local function append(row, tokens, ended, tombstone)
  redis.call('HSET', KEYS[2], count, row)
  redis.call('HSET', KEYS[3], count, tokens)
  redis.call('HDEL', KEYS[3], count - WINDOW)
  if ended ~= '' then redis.call('HSET', KEYS[2], ended, tombstone) end
end
