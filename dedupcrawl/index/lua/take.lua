-- KEYS: orphans. ARGV: what the keys of claimants begin with, the taker, its take, fields of orphans.
local mark = TAKEN .. ARGV[2] .. ARGV[3]
local taken = {}
for at = 4, #ARGV do
  local orphan = redis.call('HGET', KEYS[1], ARGV[at])
  if orphan and string.sub(orphan, 1, 1) == TAKEN then
    local taker = string.sub(orphan, 2, 33)
    local is_free = redis.call('EXISTS', ARGV[1] .. taker) == 0 or string.sub(orphan, 1, #mark) == mark
    orphan = is_free and string.sub(orphan, TAKEN_BYTES + 1)
  end
  if orphan then
    redis.call('HSET', KEYS[1], ARGV[at], mark .. orphan)
    taken[#taken + 1] = orphan
  end
end
return taken
