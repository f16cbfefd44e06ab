-- sysbench's oltp_point_select with ten rows a statement: an emulated processor spends its time on statements, and this
-- is about the records that they read.
require("oltp_common")

-- sysbench 1.0 has no zipfian distribution: 0.8 is --zipf=80, and 0 leaves it to --rand-type.
sysbench.cmdline.options.zipf = {"Hundredths of the exponent of a zipfian distribution, under 100", 0}

function prepare_statements()
end

local function row()
   local size = sysbench.opt.table_size
   if sysbench.opt.zipf == 0 then
      return sysbench.rand.default(1, size)
   end
   local place = sysbench.rand.uniform(1, 1000000000) / 1000000000
   return math.max(1, math.ceil(size * place ^ (1 / (1 - sysbench.opt.zipf / 100))))
end

function event()
   local rows = {}
   for place = 1, 10 do
      rows[place] = row()
   end
   local number = sysbench.rand.uniform(1, sysbench.opt.tables)
   con:query(string.format("SELECT c FROM sbtest%d WHERE id IN (%s)", number, table.concat(rows, ", ")))
end
