import type { DatabaseSync, StatementSync } from "node:sqlite";
import { type CounterName, Counters } from "./counters.ts";
import { keysOf, type Queue, Queues } from "./queues.ts";
import type { Mark } from "./watermark.ts";

/** The headers that travel with an envelope; no other does. */
export interface EnvelopeHeaders {
  contentType: string;
  contentEncoding: string;
  userAgent: string;
  clientIp: string;
}

/** An envelope as the proxy handed it over. */
export interface NewEnvelope {
  destination: string;
  category: string;
  received: number;
  headers: EnvelopeHeaders;
  body: Buffer;
}

/** An envelope on its way to the ingest. */
export interface ClaimedEnvelope extends NewEnvelope {
  id: number;
  /** It went out before and what became of it is not known: the ingest may get it twice. */
  redelivery: boolean;
}

/** How much one claim may take, and which keys it has to leave alone. */
export interface Claim {
  max: number;
  bytes: number;
  except: Iterable<number>;
}

/** The envelopes on disk. What changes them belongs inside a transaction (group-commit.ts). */
export class Store {
  readonly queues: Queues;
  readonly counters: Counters;
  #insert: StatementSync;
  #delete: StatementSync;
  #next: StatementSync;
  #begin: StatementSync;
  #end: StatementSync;
  #forget: StatementSync;

  constructor(database: DatabaseSync) {
    this.queues = new Queues(database);
    this.counters = new Counters(database);
    this.#insert = database.prepare("INSERT INTO envelope (id, received, headers, body) VALUES (?, ?, ?, ?)");
    this.#delete = database.prepare(
      "DELETE FROM envelope WHERE id = ? RETURNING length(headers) + length(body) AS size",
    );
    this.#next = database.prepare(`
      SELECT envelope.id, received, headers, body, attempt.id IS NOT NULL AS redelivery
      FROM envelope LEFT JOIN attempt ON attempt.id = envelope.id
      WHERE envelope.id BETWEEN ? AND ? AND attempt.ended IS NOT 0
        AND envelope.id NOT IN (SELECT value FROM json_each(?))
      ORDER BY envelope.id LIMIT ?`);
    this.#begin = database.prepare(`
      INSERT INTO attempt (id, ended) VALUES (?, 0) ON CONFLICT DO UPDATE SET ended = 0`);
    this.#end = database.prepare("UPDATE attempt SET ended = 1 WHERE id = ?");
    this.#forget = database.prepare("DELETE FROM attempt WHERE id = ?");
  }

  /** How far the spool has come. */
  mark(): Mark {
    const accepted = this.counters.all().reduce((sum, { name, count }) => (name === "accepted" ? sum + count : sum), 0);
    return { accepted, waiting: this.queues.occupied().reduce((sum, { envelopes }) => sum + envelopes, 0) };
  }

  /** Keeps an envelope. */
  add({ destination, category, received, headers, body }: NewEnvelope): void {
    const carried = JSON.stringify(headers);
    const id = this.queues.enter(destination, category, Buffer.byteLength(carried) + body.length);
    this.#insert.run(id, received, carried, body);
    this.counters.add("accepted", category);
  }

  /** Takes the first of a queue for delivery, and notes so, lest a crash hide that they went out. */
  claim({ id: queue, destination, category }: Queue, { max, bytes, except }: Claim): ClaimedEnvelope[] {
    const claimed: ClaimedEnvelope[] = [];
    let size = 0;
    for (const row of this.#next.iterate(...keysOf(queue), JSON.stringify([...except]), max)) {
      const { id, received, headers, body, redelivery } = row as unknown as Row;
      claimed.push({
        ...{ id, received, destination, category, redelivery: redelivery === 1 },
        ...{
          headers: JSON.parse(headers) as EnvelopeHeaders,
          body: Buffer.from(body.buffer, body.byteOffset, body.length),
        },
      });
      size += body.length;
      if (size >= bytes) break;
    }
    for (const { id } of claimed) this.#begin.run(id);
    return claimed;
  }

  /** Takes an envelope out for good and counts it. */
  remove(id: number, as: CounterName, reason = ""): void {
    const row = this.#delete.get(id) as { size: number } | undefined;
    if (!row) return;
    this.#forget.run(id);
    this.counters.add(as, this.queues.leave(id, row.size), reason);
  }

  /** Puts a claimed envelope back; `unknown` when the ingest may have it all the same. */
  release(id: number, unknown: boolean): void {
    if (unknown) this.#end.run(id);
    else this.#forget.run(id);
  }
}

type Row = { id: number; received: number; headers: string; body: Uint8Array; redelivery: number };
