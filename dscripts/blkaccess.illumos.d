#!/usr/sbin/dtrace -s
/*
 * blkaccess.illumos.d - print each ZFS record that a process reads, and which cache gave it.
 *
 * A database's pages reach it through three caches of ZFS: the dbuf cache, the
 * ARC and the L2ARC. This prints one line for each record (block of a file)
 * that a process, usually mysqld, reads, in the order of the reads on each CPU,
 * and for each that ZFS prefetches for it; if wished, for what it writes, too.
 * How soon the same object and blkid come again is the locality that decides
 * whether an L2ARC can pay.
 *
 * USAGE:	dtrace -s blkaccess.illumos.d PID [SECONDS [RATE [WRITES]]]
 *
 *		PID		process to watch, all its threads (pgrep -o mysqld)
 *		SECONDS		end after this time; without it, at Ctrl-C.
 *				It ends as well when the process exits.
 *				0 is none.
 *		RATE		keep 1 of RATE records; without it, or 0, all.
 *				See SAMPLING.
 *		WRITES		1 prints the records that it writes as well; 0 is none.
 *
 *	e.g.	dtrace -s blkaccess.illumos.d $(pgrep -o -x mysqld) 60 > reads.txt
 *		dtrace -s blkaccess.illumos.d $(pgrep -o -x mysqld) 600 64 > sample.txt
 *
 * FIELDS:
 *		time	timestamp at which the read of the record began, ns
 *		objset	dataset: its objset id (zfs get objsetid)
 *		object	file: its object number, which is its inode number (ls -i)
 *		level	level in the file's block tree; always 0, a data record
 *		blkid	number of the record in the file, from 0
 *		size	size of the record, uncompressed, bytes
 *		class	where the process found it:
 *		  dbuf	  in the dbuf cache, or held or dirty there
 *		  arc	  in the ARC
 *		  l2hit	  not in the ARC; read from an L2ARC device
 *		  miss	  not in the ARC or the L2ARC; read from the pool
 *		  wait	  on its way: another reader's or the prefetcher's I/O for
 *			  this record was in flight, or a write was filling it
 *		  hole	  nowhere, and needs no read: a hole, or so small when
 *			  compressed that it lies in its block pointer
 *		  direct  on the pool, by Direct I/O, which asks no other cache than
 *			  the dbufs, so that no cache device can help it
 *			or what else was done to it, which is no read of the process:
 *		  prefetch	the prefetcher asked the ARC for it, seeing what the
 *				process reads
 *		  write	  a write() of the process changed it; with WRITES only
 *
 *		Lines that begin with # are comments: the time at the start on both
 *		clocks, the column names, with SECONDS a sign of life each second,
 *		and the end of the process.
 *
 * SAMPLING:	With RATE 64, a hash of objset, object and blkid chooses 1 record of
 *		64, evenly over all files. Each read of a chosen record prints its
 *		line, and no read of another one does; so the sample tells how often
 *		and how soon records are read again, which each 64th read would not.
 *		Lines times RATE are the reads, about. Between two reads of a record
 *		lie as many other records as there are in the sample, times RATE. A
 *		rate is good as long as some thousand different records are left.
 *		The records of RATE 64 are among those of 32, 16 and so on. What
 *		isn't chosen costs the hash, and neither a line nor its place in the
 *		buffer. The first lines say the rate.
 *
 * OVERHEAD:	Never measured on illumos. About ten probes fire for each record
 *		read, those of dbuf_read() and arc_read() also for every other
 *		process, where a predicate ends them; and a line that dtrace prints.
 *		RATE spares the line. Measure before you trace in production.
 *		Buffers take 8 MB per CPU.
 *
 * NOTES:	UNPROVEN: this script has never run on illumos. It is written from
 *		the sources that dscripts/probes/illumos.toml names; its text
 *		compiles on Linux, and with Linux's probes beside the three of sdt
 *		and a stub for the vnode it prints there what blkaccess.d prints.
 *		What would prove it:
 *
 *		dtrace -e -s blkaccess.illumos.d 1
 *		dd if=/dev/urandom of=f bs=128k count=211; sync; sleep 10
 *		sh -c 'sleep 60; exec dd if=f of=/dev/null bs=128k' &
 *		dtrace -s blkaccess.illumos.d $! > reads.txt
 *		grep -c " $(ls -i f | awk '{ print $1 }') 0 " reads.txt
 *
 *		in a dataset with recordsize=128K must end with 211. Done again, f's
 *		lines must say arc or dbuf; after zpool export and import miss, or
 *		wait where the prefetcher was ahead.
 *
 *		Needs root in the global zone. PID may be in any zone.
 *
 *		DB_READ and DB_CACHED below are illumos-gate's. Oxide's illumos has
 *		had one more state before them since 2026, so there they are 4 and 5:
 *		echo '::enum dbuf_states_t' | mdb -k
 *
 *		illumos has no probe where arc_read() joins an I/O in flight: that
 *		it neither hit nor missed is taken for it. arc-miss also fires for a
 *		record that lies in its block pointer, which is looked at first.
 *
 *		A read of several records prints one line for each; several reads
 *		of parts of one record print one line each. A prefetched record is
 *		printed when it is asked for; whether it comes in time, the class of
 *		its read tells.
 *
 *		A write() of several records prints one line for each; one that grows a file of one record may rewrite that, and then
 *		prints its line. What one write() does to a record is one line.
 *
 *		illumos has no Direct I/O that passes by the ARC: direct is never
 *		printed.
 *
 *		Not seen: pages of memory-mapped files.
 *
 *		Lines of several CPUs are not sorted. If dtrace says "N drops", N
 *		lines were lost. A record takes about 90 bytes of the buffer, which
 *		is emptied four times a second.
 *
 *		kstat -p zfs::arcstats counts the same events, but of all processes:
 *		  miss + l2hit	demand_data_misses, which includes the records that
 *				lie in their block pointer
 *		  l2hit		l2_hits, which includes metadata and prefetch
 *		  prefetch	prefetch_data_hits + _misses, and those it joined in flight
 *
 * SEE ALSO:	zmysql-trace(8), kstat(8), dtrace(8)
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */

#pragma D option quiet
#pragma D option defaultargs
#pragma D option bufsize=8m
#pragma D option switchrate=4hz
#pragma D option strsize=16

/* dbuf_states_t of illumos-gate; see NOTES */
inline int DB_FILL = 1;
inline int DB_READ = 3;
inline int DB_CACHED = 4;

/* self->how: what has answered so far */
inline int ASKED = 1;
inline int DBUF = 2;
inline int ARC = 3;
inline int WAIT = 4;
inline int MISS = 5;
inline int L2HIT = 6;
inline int HOLE = 7;

/* 1 record of RATE is kept. */
inline uint64_t RATE = $3 > 1 ? $3 : 1;

dtrace:::BEGIN
{
	deadline = timestamp + (uint64_t)$2 * 1000000000;
	printf("# began %d, %d ns since 1970\n", timestamp, walltimestamp);
	printf("# sampling 1/%d\n", RATE);
	printf("# time objset object level blkid size class\n");
}

fbt:zfs:zfs_read:entry
/pid == $1/
{
	self->file = ((znode_t *)((vnode_t *)arg0)->v_data)->z_id;
}

fbt:zfs:zfs_read:return
/self->file/
{
	self->file = 0;
}

/*
 * The read of one record begins. The object keeps out what zfs_read() reads
 * besides the file's data (dnodes), the sign of blkid its bonus and spill
 * blocks. The hash, whose last steps are MurmurHash3's, chooses the record.
 */
fbt:zfs:dbuf_read:entry
/self->file && !self->db && ((dmu_buf_impl_t *)arg0)->db_level == 0 &&
    ((dmu_buf_impl_t *)arg0)->db.db_object == self->file &&
    (int64_t)((dmu_buf_impl_t *)arg0)->db_blkid >= 0/
{
	this->dbuf = (dmu_buf_impl_t *)arg0;
	this->hash = this->dbuf->db_objset->os_dsl_dataset->ds_object;
	this->hash = this->hash * 0x9E3779B97F4A7C15ULL + this->dbuf->db.db_object;
	this->hash = this->hash * 0x9E3779B97F4A7C15ULL + this->dbuf->db_blkid;
	this->hash = (this->hash ^ this->hash >> 33) * 0xFF51AFD7ED558CCDULL;
	this->hash = (this->hash ^ this->hash >> 33) * 0xC4CEB9FE1A85EC53ULL;
	this->hash = this->hash ^ this->hash >> 33;
	self->db = this->hash % RATE == 0 ? arg0 : 0;
}

/* Without an answer from the dbuf, how is 0 until arc_read() gives one. */
fbt:zfs:dbuf_read:entry
/self->db && arg0 == self->db && !self->began/
{
	this->state = (int)((dmu_buf_impl_t *)arg0)->db_state;
	self->began = timestamp;
	self->how = this->state == DB_CACHED ? DBUF :
	    this->state == DB_READ || this->state == DB_FILL ? WAIT : 0;
}

/*
 * Reads of other blocks inside the read of a record (indirect blocks, for the
 * prefetcher) only count as depth, so that the right return ends the record.
 */
fbt:zfs:dbuf_read:entry
/self->db && arg0 != self->db/
{
	self->depth++;
}

/*
 * The dbuf is arc_read()'s private argument on a demand read only. Bit 39 of
 * blk_prop is set where the block pointer itself holds the data.
 */
fbt:zfs:arc_read:entry
/self->db && arg4 == self->db/
{
	self->how = ((blkptr_t *)arg2)->blk_prop >> 39 & 1 ? HOLE : ASKED;
}

sdt:zfs::arc-hit
/self->how == ASKED/
{
	self->how = ARC;
}

sdt:zfs::arc-miss
/self->how == ASKED/
{
	self->how = MISS;
	self->hdr = arg0;
}

/* The same header, since a prefetch may follow in the same dbuf_read(). */
sdt:zfs::l2arc-hit
/self->how == MISS && arg0 == self->hdr/
{
	self->how = L2HIT;
}

/* It joined an I/O in flight; told before a prefetch can follow. */
fbt:zfs:arc_read:return
/self->how == ASKED/
{
	self->how = WAIT;
}

/*
 * Without an answer from the ARC the record has no block to read, unless
 * another reader came first between our look at the state and the lock; it
 * may even be done. blk_fill is 0 in the block pointer of a hole.
 */
fbt:zfs:dbuf_read:return
/self->db && !self->depth/
{
	this->db = (dmu_buf_impl_t *)self->db;
	this->how = self->how ? self->how :
	    (int)this->db->db_state == DB_READ || (this->db->db_blkptr &&
	    this->db->db_blkptr->blk_fill) ? WAIT : 0;
	printf("%d %d %d %d %d %d %s\n", self->began,
	    this->db->db_objset->os_dsl_dataset->ds_object,
	    this->db->db.db_object, this->db->db_level, this->db->db_blkid,
	    this->db->db.db_size, this->how == DBUF ? "dbuf" :
	    this->how == ARC ? "arc" : this->how == L2HIT ? "l2hit" :
	    this->how == MISS ? "miss" : this->how == WAIT ? "wait" : "hole");
	self->db = 0;
	self->began = 0;
	self->how = 0;
	self->hdr = 0;
}

fbt:zfs:dbuf_read:return
/self->db && self->depth/
{
	self->depth--;
}

/*
 * The prefetcher thinks of a record. It asks for it, if arc_read() comes of
 * that: for the record, or for the indirect blocks above it first.
 */
fbt:zfs:dbuf_prefetch:entry
/self->file && arg1 == 0 && ((dnode_t *)arg0)->dn_object == self->file/
{
	this->dnode = (dnode_t *)arg0;
	this->hash = this->dnode->dn_objset->os_dsl_dataset->ds_object;
	this->hash = this->hash * 0x9E3779B97F4A7C15ULL + this->dnode->dn_object;
	this->hash = this->hash * 0x9E3779B97F4A7C15ULL + arg2;
	this->hash = (this->hash ^ this->hash >> 33) * 0xFF51AFD7ED558CCDULL;
	this->hash = (this->hash ^ this->hash >> 33) * 0xC4CEB9FE1A85EC53ULL;
	this->hash = this->hash ^ this->hash >> 33;
	self->ahead = this->hash % RATE == 0 ? arg0 : 0;
	self->blkid = arg2;
}

fbt:zfs:arc_read:entry
/self->ahead/
{
	this->dnode = (dnode_t *)self->ahead;
	printf("%d %d %d %d %d %d %s\n", timestamp,
	    this->dnode->dn_objset->os_dsl_dataset->ds_object,
	    this->dnode->dn_object, 0, self->blkid, this->dnode->dn_datablksz,
	    "prefetch");
	self->ahead = 0;
}

fbt:zfs:dbuf_prefetch:return
/self->file/
{
	self->ahead = 0;
	self->blkid = 0;
}

fbt:zfs:zfs_write:entry
/$4 && pid == $1/
{
	self->written = ((znode_t *)((vnode_t *)arg0)->v_data)->z_id;
}

/*
 * Each record that is written comes by dbuf_dirty(), but for what the same
 * transaction group has in part already. What comes by both is dirty once.
 */
fbt:zfs:dmu_buf_will_dirty:entry,
fbt:zfs:dbuf_dirty:entry
/self->written && arg0 != self->dirty &&
    ((dmu_buf_impl_t *)arg0)->db_level == 0 &&
    ((dmu_buf_impl_t *)arg0)->db.db_object == self->written &&
    (int64_t)((dmu_buf_impl_t *)arg0)->db_blkid >= 0/
{
	this->dbuf = (dmu_buf_impl_t *)arg0;
	this->hash = this->dbuf->db_objset->os_dsl_dataset->ds_object;
	this->hash = this->hash * 0x9E3779B97F4A7C15ULL + this->dbuf->db.db_object;
	this->hash = this->hash * 0x9E3779B97F4A7C15ULL + this->dbuf->db_blkid;
	this->hash = (this->hash ^ this->hash >> 33) * 0xFF51AFD7ED558CCDULL;
	this->hash = (this->hash ^ this->hash >> 33) * 0xC4CEB9FE1A85EC53ULL;
	this->hash = this->hash ^ this->hash >> 33;
	self->record = this->hash % RATE == 0 ? arg0 : 0;
	self->dirty = arg0;
}

fbt:zfs:dmu_buf_will_dirty:entry,
fbt:zfs:dbuf_dirty:entry
/self->record/
{
	this->db = (dmu_buf_impl_t *)self->record;
	printf("%d %d %d %d %d %d %s\n", timestamp,
	    this->db->db_objset->os_dsl_dataset->ds_object,
	    this->db->db.db_object, this->db->db_level, this->db->db_blkid,
	    this->db->db.db_size, "write");
	self->record = 0;
}

/* Last: a variable is as wide as what it is first given in this text. */
fbt:zfs:zfs_write:return
/self->written/
{
	self->written = 0;
	self->dirty = 0;
}

/* With SECONDS: a sign of life, at which dtrace notices that nobody reads on. */
profile:::tick-1sec
/$2/
{
	printf("# at %d\n", timestamp);
}

profile:::tick-1sec
/$2 && timestamp >= deadline/
{
	exit(0);
}

proc:::exit
/pid == $1/
{
	printf("# process %d exited\n", pid);
	exit(0);
}
