import type { DatabaseSync, StatementSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import type { EnvelopeHeaders } from "../envelope-headers.ts";
import { logOncePerMinute } from "../log.ts";
import { type CounterName, Counters } from "./counters.ts";
import { keyRange, type Queue, Queues } from "./queues.ts";

/** An envelope as the proxy sent it. */
export interface NewEnvelope {
  destination: string;
  category: string;
  /** It takes long to decompress: delivered last within its priority. */
  isLarge: boolean;
  received: number;
  headers: EnvelopeHeaders;
  body: Buffer;
}

/** An envelope that is being delivered. */
export interface ClaimedEnvelope extends NewEnvelope {
  id: number;
  /** An earlier attempt had an unknown result: the ingest may get the envelope twice. */
  redelivery: boolean;
}

/** Envelopes accepted since the volume was created, and how many of them are queued. */
export interface Mark {
  accepted: number;
  queued: number;
}

/** The envelopes on disk. What changes them belongs in a transaction (group-commit.ts). */
export class Store {
  readonly queues: Queues;
  readonly counters: Counters;
  #insert: StatementSync;
  #delete: StatementSync;
  #next: StatementSync;
  #beginAttempt: StatementSync;
  #endAttempt: StatementSync;
  #deleteAttempt: StatementSync;

  constructor(database: DatabaseSync) {
    this.queues = new Queues(database);
    this.counters = new Counters(database);
    this.#insert = database.prepare(
      "INSERT INTO envelope (id, received, checksum, headers, body) VALUES (?, ?, ?, ?, ?)",
    );
    this.#delete = database.prepare(
      "DELETE FROM envelope WHERE id = ? RETURNING octet_length(headers) + length(body) AS size",
    );
    this.#next = database.prepare(`
      SELECT envelope.id, received, checksum, headers, body, attempt.id IS NOT NULL AS redelivery
      FROM envelope LEFT JOIN attempt ON attempt.id = envelope.id
      WHERE envelope.id BETWEEN ? AND ? AND attempt.ended IS NOT 0
        AND envelope.id NOT IN (SELECT value FROM json_each(?))
      ORDER BY envelope.id LIMIT ?`);
    this.#beginAttempt = database.prepare(`
      INSERT INTO attempt (id, ended) VALUES (?, 0) ON CONFLICT DO UPDATE SET ended = 0`);
    this.#endAttempt = database.prepare("UPDATE attempt SET ended = 1 WHERE id = ?");
    this.#deleteAttempt = database.prepare("DELETE FROM attempt WHERE id = ?");
  }

  /** The present mark, for loss-detection.ts. */
  mark(): Mark {
    const accepted = this.counters.all().filter(({ name }) => name === "accepted");
    return {
      accepted: accepted.reduce((sum, { count }) => sum + count, 0),
      queued: this.queues.nonEmpty().reduce((sum, { envelopes }) => sum + envelopes, 0),
    };
  }

  /** Adds an envelope to its queue. */
  add({ destination, category, isLarge, received, headers, body }: NewEnvelope): void {
    const json = JSON.stringify(headers);
    const id = this.queues.enqueue(destination, category, isLarge, Buffer.byteLength(json) + body.length);
    this.#insert.run(id, received, checksum(json, body), json, body);
    this.counters.add("accepted", category);
  }

  /**
   * Claims the oldest envelopes of a queue for delivery, up to a number and about a size, without those of some keys. Recorded on disk, so
   * that a crash does not hide that they were sent. Drops damaged ones: SQLite checks the structure of its file, not what is in it.
   */
  claim(
    { id: queue, destination, category, isLarge }: Queue,
    limits: { max: number; bytes: number; except: number[] },
  ) {
    const claimed: ClaimedEnvelope[] = [];
    const damaged: number[] = [];
    let size = 0;
    for (const found of this.#next.iterate(...keyRange(queue), JSON.stringify(limits.except), limits.max)) {
      const row = found as unknown as Row;
      if (!isIntact(row)) {
        damaged.push(row.id);
        continue;
      }
      const body = Buffer.from(row.body.buffer, row.body.byteOffset, row.body.length);
      const headers = JSON.parse(row.headers) as EnvelopeHeaders;
      const { id, received } = row;
      claimed.push({ id, destination, category, isLarge, received, headers, body, redelivery: row.redelivery === 1 });
      size += body.length;
      if (size >= limits.bytes) break;
    }
    for (const { id } of claimed) this.#beginAttempt.run(id);
    for (const id of damaged) this.remove(id, "dropped", "damaged");
    if (damaged.length > 0)
      logOncePerMinute("damaged", `dropped envelopes that the disk has damaged: ${damaged.length}`);
    return claimed;
  }

  /** Removes an envelope for good and counts it. */
  remove(id: number, counter: CounterName, reason = ""): void {
    const row = this.#delete.get(id) as { size: number } | undefined;
    if (!row) return;
    this.#deleteAttempt.run(id);
    this.counters.add(counter, this.queues.dequeue(id, row.size), reason);
  }

  /** Returns a claimed envelope to its queue; `mayHaveArrived` if the ingest may have received it. */
  release(id: number, mayHaveArrived: boolean): void {
    if (mayHaveArrived) this.#endAttempt.run(id);
    else this.#deleteAttempt.run(id);
  }
}

type Row = { id: number; received: number; checksum: number; headers: string; body: Uint8Array; redelivery: number };

const checksum = (headers: string, body: Uint8Array) => crc32(body, crc32(headers));

/** The types count too: damage may turn a value into one of another type. */
const isIntact = (row: Row) =>
  typeof row.headers === "string" && row.body instanceof Uint8Array && checksum(row.headers, row.body) === row.checksum;
