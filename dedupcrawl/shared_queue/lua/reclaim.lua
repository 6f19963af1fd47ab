local back, given_up = 0, 0
for _, worker in ipairs(redis.call('HKEYS', KEYS[1])) do
  if worker ~= ARGV[5] and redis.call('EXISTS', ARGV[1] .. worker) == 0 then
    local leases = ARGV[2] .. worker
    local cursor, found = '0', {}
    repeat  -- one call gives up after ten times as many buckets, which may all be empty by now
      local scan = redis.call('HSCAN', leases, cursor, 'COUNT', ARGV[3])
      cursor, found = scan[1], scan[2]
    until #found > 0 or cursor == '0'
    for i = 1, #found, 2 do
      local undo = undo_of(found[i + 1])
      if is_marked(found[i + 1])
        or redis.call('HINCRBY', KEYS[2], redis.sha1hex(undo[#undo]), 1) <= tonumber(ARGV[4]) then
        redis.call(unpack(undo))
        back = back + 1
      else
        given_up = given_up + 1
      end
      redis.call('HDEL', leases, found[i])
    end
    if redis.call('EXISTS', leases) == 0 then redis.call('HDEL', KEYS[1], worker) end
  end
end
return {back, given_up}
