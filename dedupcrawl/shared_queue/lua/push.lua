if ARGV[3] ~= '' and redis.call('SADD', KEYS[1], ARGV[3]) == 0 then return {counted, 0} end
redis.call(ARGV[4], KEYS[2], unpack(ARGV, 5))
return {counted, 1}
