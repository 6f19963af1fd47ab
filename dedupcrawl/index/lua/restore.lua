-- KEYS: meta, rows. ARGV: epoch, number of the first row, rows.
if redis.call('HGET', KEYS[1], 'epoch') ~= ARGV[1] or redis.call('HLEN', KEYS[2]) ~= tonumber(ARGV[2]) then return 0 end
for at = 3, #ARGV do redis.call('HSET', KEYS[2], ARGV[2] + at - 3, ARGV[at]) end
return 1
