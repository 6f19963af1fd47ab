-- KEYS: meta, rows. ARGV: the header of a new index or '', its epoch, the number of a row.
if ARGV[1] ~= '' and redis.call('EXISTS', KEYS[1], KEYS[2]) == 0 then
  redis.call('HSET', KEYS[1], 'header', ARGV[1], 'epoch', ARGV[2])
end
local meta = redis.call('HMGET', KEYS[1], 'header', 'epoch')
return {meta[1], meta[2], redis.call('HLEN', KEYS[2]), redis.call('HGET', KEYS[2], ARGV[3])}
