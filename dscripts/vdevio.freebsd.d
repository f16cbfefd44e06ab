#!/usr/sbin/dtrace -s
/*
 * vdevio.freebsd.d - sum the physical I/O of each vdev: size, latency, seeks, queue depth.
 *
 * What reaches a disk under ZFS isn't what the database asked for: the pool
 * caches, aggregates, reorders and adds its own. This sums, for each disk (leaf
 * vdev) of a pool, the I/Os that ZFS sent to it, by direction and by the class
 * in which ZFS queued them: how large, how far apart, how long the disk took,
 * how long they waited for their turn. The averages tell what the disk is asked
 * to do, the histograms at the end its spikes.
 *
 * USAGE:	dtrace -s vdevio.freebsd.d [SECONDS [POOL]]
 *
 *		SECONDS		end after this time; without it, or 0, at Ctrl-C
 *		POOL		only this pool; without it, all
 *
 *	e.g.	dtrace -s vdevio.freebsd.d 60 tank
 *
 * FIELDS:
 *		direction	read, write, trim, or flush (of the disk's cache)
 *		priority	class of ZFS's I/O scheduler, zio_priority_t:
 *		  sync_read	  somebody waits for it
 *		  sync_write	  the intent log, and what else is waited for
 *		  async_read	  prefetch
 *		  async_write	  a transaction group
 *		  scrub		  scrub, resilver
 *		  removal, initializing, trim, rebuild	zpool's commands
 *		  now		  not queued
 *		operations	I/Os that ended well; of a flush those that ended
 *		bytes		their bytes
 *		device_avg_ns	from ZFS to the disk and back, on average
 *		device_max_ns	longest
 *		queue_avg_ns	wait in ZFS's queue before that, on average
 *		queue_max_ns	longest
 *		began		I/Os that ZFS gave to the disk; what follows is of these
 *		sequential	that began where the one before on the vdev ended
 *		seek_avg_bytes	from the end of the one before to the start of this,
 *				forth or back, on average; 0 for a sequential one
 *		depth_sum	I/Os at the disk when this came, itself too, summed:
 *				depth_sum / began is the average queue depth
 *		depth_max	most
 *		vdev		path of the disk or partition
 *
 *		Lines that begin with # are comments: the time at the start on both
 *		clocks, the column names, with SECONDS a sign of life each second.
 *		Rows come at the end, in no order, then a histogram
 *		of the device's times for each direction and vdev.
 *
 * OVERHEAD:	Never measured on FreeBSD. Two probes for each I/O that a disk gets,
 *		and a hash of its row. Measure before you trace in production.
 *
 * NOTES:	UNPROVEN: this script has never run on FreeBSD. It is written from
 *		the sources that dscripts/probes/freebsd.toml names; its text
 *		compiles on Linux, and with Linux's probes of vdev_disk.c in place
 *		of those of vdev_geom.c it prints there what vdevio.d prints.
 *		What would prove it:
 *
 *		kldload dtraceall; dtrace -e -s vdevio.freebsd.d
 *		zpool get -Hp read_ops,write_ops POOL all-vdevs
 *		dtrace -s vdevio.freebsd.d 60 POOL &  (and read and write there)
 *		zpool get -Hp read_ops,write_ops POOL all-vdevs
 *
 *		must differ by the sums of operations, with a pool that has nothing
 *		to do as the script begins and ends. For FreeBSD 14 and later, with
 *		OpenZFS 2.2 or later. Needs root on the host, not in a jail. With ZFS
 *		from the port openzfs-kmod the module has another name:
 *		sed 's/:zfs:/:openzfs:/' vdevio.freebsd.d > other.d
 *
 *		I/Os that ZFS aggregates are one: the one the disk sees. The next
 *		I/O is the next that ZFS hands to the disk, of any direction and
 *		class; a read between two writes makes both a seek. Disks reorder
 *		what is in their queue: with depth, the arm travels less.
 *
 *		operations are the I/Os that ended during the trace, began those
 *		that began in it. The first of each vdev has no seek, and isn't in
 *		seek_avg_bytes. depth counts all classes of the vdev together.
 *
 *		operations and bytes are the counters behind zpool iostat -v:
 *		zpool get read_ops,write_ops,read_bytes,write_bytes POOL all-vdevs.
 *		Those count trims apart, and flushes not at all. zpool iostat -w
 *		has histograms of the same times since the pool was imported.
 *
 *		While a pool is being imported it has another name; without POOL
 *		that is seen, too. Files as vdevs, for tests, have no began
 *		and no flushes.
 *
 *		If dtrace says "aggregation drops", rows are too low. 4 MB hold
 *		some thousand rows.
 *
 * SEE ALSO:	zmysql-trace(8), zpool-iostat(8), gstat(8), dtrace(1)
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */

#pragma D option quiet
#pragma D option defaultargs
#pragma D option aggsize=4m

/* zio_type_t of OpenZFS; below, by number, zio_priority_t */
inline int READ = 1;
inline int WRITE = 2;
inline int FLUSH = 5;

/* By vdev: where its last I/O ended. By zio: when a flush began. */
uint64_t last[uint64_t];
uint64_t began[uint64_t];

dtrace:::BEGIN
{
	only = $$2;
	all = only == "";
	deadline = timestamp + (uint64_t)$1 * 1000000000;
	printf("# began %d, %d ns since 1970\n", timestamp, walltimestamp);
	printf("# direction priority operations bytes device_avg_ns device_max_ns queue_avg_ns queue_max_ns began sequential seek_avg_bytes depth_sum depth_max vdev\n");
}

/* ZFS gives an I/O to a provider of GEOM. */
fbt:zfs:vdev_geom_io_start:entry
/(int)((zio_t *)arg0)->io_type != FLUSH &&
    (all || only == stringof(((zio_t *)arg0)->io_spa->spa_name))/
{
	this->zio = (zio_t *)arg0;
	this->type = (int)this->zio->io_type;
	this->class = (int)this->zio->io_priority;
	this->direction = this->type == READ ? "read " :
	    this->type == WRITE ? "write " : "trim ";
	this->what = strjoin(this->direction, this->class == 0 ? "sync_read" :
	    this->class == 1 ? "sync_write" : this->class == 2 ? "async_read" :
	    this->class == 3 ? "async_write" : this->class == 4 ? "scrub" :
	    this->class == 5 ? "removal" : this->class == 6 ? "initializing" :
	    this->class == 7 ? "trim" : this->class == 8 ? "rebuild" : "now");
	this->path = stringof(this->zio->io_vd->vdev_path);
	this->depth = this->zio->io_vd->vdev_queue.vq_active;
	this->last = last[(uint64_t)this->zio->io_vd];
	this->from = this->zio->io_offset;
	last[(uint64_t)this->zio->io_vd] = this->from + this->zio->io_size;
	@began[this->what, this->path] = count();
	@depth[this->what, this->path] = sum(this->depth);
	@depth_max[this->what, this->path] = max(this->depth);
}

fbt:zfs:vdev_geom_io_start:entry
/(int)((zio_t *)arg0)->io_type != FLUSH && this->last &&
    (all || only == stringof(((zio_t *)arg0)->io_spa->spa_name))/
{
	@sequential[this->what, this->path] = sum(this->from == this->last);
	@seek[this->what, this->path] = avg(this->from > this->last ?
	    this->from - this->last : this->last - this->from);
}

/* It ended. Without io_delay it was part of an aggregated one, or on no disk. */
fbt:zfs:vdev_stat_update:entry
/((zio_t *)arg0)->io_delay && ((zio_t *)arg0)->io_delta && ((zio_t *)arg0)->io_error == 0 &&
    (all || only == stringof(((zio_t *)arg0)->io_spa->spa_name))/
{
	this->zio = (zio_t *)arg0;
	this->type = (int)this->zio->io_type;
	this->class = (int)this->zio->io_priority;
	this->direction = this->type == READ ? "read " :
	    this->type == WRITE ? "write " : "trim ";
	this->what = strjoin(this->direction, this->class == 0 ? "sync_read" :
	    this->class == 1 ? "sync_write" : this->class == 2 ? "async_read" :
	    this->class == 3 ? "async_write" : this->class == 4 ? "scrub" :
	    this->class == 5 ? "removal" : this->class == 6 ? "initializing" :
	    this->class == 7 ? "trim" : this->class == 8 ? "rebuild" : "now");
	this->path = stringof(this->zio->io_vd->vdev_path);
	this->device = (uint64_t)this->zio->io_delay;
	this->queue = (uint64_t)this->zio->io_delta - this->device;
	@operations[this->what, this->path] = count();
	@bytes[this->what, this->path] = sum(arg1);
	@device[this->what, this->path] = avg(this->device);
	@device_max[this->what, this->path] = max(this->device);
	@queue[this->what, this->path] = avg(this->queue);
	@queue_max[this->what, this->path] = max(this->queue);
	@time[this->direction, this->path] = quantize(this->device / 1000);
}

/* A flush waits in no queue, and ZFS takes no times of it. */
fbt:zfs:vdev_geom_io_start:entry
/(int)((zio_t *)arg0)->io_type == FLUSH &&
    (all || only == stringof(((zio_t *)arg0)->io_spa->spa_name))/
{
	began[arg0] = timestamp;
}

fbt:zfs:vdev_geom_io_done:entry
/began[arg0]/
{
	this->time = timestamp - began[arg0];
	this->path = stringof(((zio_t *)arg0)->io_vd->vdev_path);
	began[arg0] = 0;
	@operations["flush now", this->path] = count();
	@device["flush now", this->path] = avg(this->time);
	@device_max["flush now", this->path] = max(this->time);
	@time["flush ", this->path] = quantize(this->time / 1000);
}

/* With SECONDS: a sign of life, at which dtrace notices that nobody reads on. */
profile:::tick-1sec
/$1/
{
	printf("# at %d\n", timestamp);
}

profile:::tick-1sec
/$1 && timestamp >= deadline/
{
	exit(0);
}

dtrace:::END
{
	printa("%s %@d %@d %@d %@d %@d %@d %@d %@d %@d %@d %@d %s\n", @operations, @bytes, @device,
	    @device_max, @queue, @queue_max, @began, @sequential, @seek, @depth, @depth_max);
	printa("# Time at the device, microseconds, by %sof %s:%@d\n", @time);
	printf("# A disk that seeks is slow where seek_avg_bytes is large and sequential is small;\n");
	printf("# one with a long queue_avg_ns has more to do than it can. device_max_ns are spikes.\n");
}
