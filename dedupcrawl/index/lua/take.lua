-- KEYS: what is due. ARGV: what the keys of lessees begin with, the taker, its take, fields of skips.
local mark = TAKEN .. ARGV[2] .. ARGV[3]
local taken = {}
for at = 4, #ARGV do
  local skip = redis.call('HGET', KEYS[1], ARGV[at])
  if skip and string.sub(skip, 1, 1) == TAKEN then
    local taker = string.sub(skip, 2, 33)
    local is_free = redis.call('EXISTS', ARGV[1] .. taker) == 0 or string.sub(skip, 1, #mark) == mark
    skip = is_free and string.sub(skip, TAKEN_BYTES + 1)
  end
  if skip then
    redis.call('HSET', KEYS[1], ARGV[at], mark .. skip)
    taken[#taken + 1] = skip
  end
end
return taken
