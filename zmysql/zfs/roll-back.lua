-- Rolls back file systems of one pool, all in one transaction group: all of them, or none. See zfs-program(8).
-- The arguments are the snapshots to go back to (dataset@name), the word `newer`, and the snapshots that may be
-- destroyed for it. The file systems must not be mounted. What stands against it is the error: one line for each.
args = ...
targets, newer = {}, {}
into = targets
for _, word in ipairs(args["argv"]) do
    if word == "newer" then
        into = newer
    else
        into[#into + 1] = word
    end
end

against = ""
function check(name, errno)
    if errno ~= 0 then
        against = against .. "\n" .. name .. " errno " .. errno
    end
end
function stop_if_any(when)
    if against ~= "" then
        error(when .. against)
    end
end
function dataset_of(snapshot)
    return string.sub(snapshot, 1, string.find(snapshot, "@", 1, true) - 1)
end

-- zfs.sync.rollback goes to the last snapshot, whatever it is. So it must be the one that is meant.
may_go = {}
for _, snapshot in ipairs(newer) do
    may_go[snapshot] = true
    check(snapshot, zfs.check.destroy(snapshot))
end
for _, target in ipairs(targets) do
    txg = zfs.get_prop(target, "createtxg")
    for snapshot in zfs.list.snapshots(dataset_of(target)) do
        if zfs.get_prop(snapshot, "createtxg") > txg and not may_go[snapshot] then
            check(snapshot, 17)
        end
    end
    check(target, zfs.check.rollback(dataset_of(target)))
end
stop_if_any("nothing was changed")

for _, snapshot in ipairs(newer) do
    check(snapshot, zfs.sync.destroy(snapshot))
end
for _, target in ipairs(targets) do
    check(target, zfs.check.rollback(dataset_of(target)))
end
stop_if_any("newer snapshots were destroyed, nothing was rolled back")

for _, target in ipairs(targets) do
    check(target, zfs.sync.rollback(dataset_of(target)))
end
stop_if_any("some were rolled back, these were not")
