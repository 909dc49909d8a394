import type { RecordDecoder } from '../../codec/record-codec.ts';
import { type DirectoryChange, directoryKey } from '../../domain/directory.ts';
import type { Follower } from '../broker.ts';
import type { EngineThread } from './file/engine-thread.ts';

const READ_LIMIT = 1_000;

interface Following {
  readonly apply: (change: DirectoryChange) => unknown;
  /** Changes committed while the table is read, to be applied after it; null once it was read. */
  early: DirectoryChange[] | null;
}

/** Gives followers the whole directory and then every change, in order. */
export class DirectoryTable {
  readonly #thread: EngineThread;
  readonly #decoderOf: (schema: number) => RecordDecoder<DirectoryChange>;
  readonly #followers = new Set<Following>();

  constructor(thread: EngineThread, decoderOf: (schema: number) => RecordDecoder<DirectoryChange>) {
    this.#thread = thread;
    this.#decoderOf = decoderOf;
  }

  /** Passes on changes that were committed and are newer than the known ones. */
  committed(changes: readonly DirectoryChange[]): void {
    for (const change of changes) {
      for (const follower of this.#followers) {
        if (follower.early) follower.early.push(change);
        else follower.apply(change);
      }
    }
  }

  async follow(apply: (change: DirectoryChange) => unknown): Promise<Follower> {
    const following: Following = { apply, early: [] };
    this.#followers.add(following);
    const stop = async () => {
      this.#followers.delete(following);
    };
    try {
      const versions = await this.#readAll(apply);
      for (const change of following.early ?? []) {
        const known = versions.get(directoryKey(change));
        if (known === undefined || change.version > known) apply(change);
      }
      following.early = null;
    } catch (error) {
      await stop();
      throw error;
    }
    // Every commit is applied in the same turn: the table cannot be behind.
    return { stalenessMs: () => 0, close: stop };
  }

  async #readAll(apply: (change: DirectoryChange) => unknown): Promise<Map<string, number>> {
    const versions = new Map<string, number>();
    let after = '';
    for (;;) {
      const reply = await this.#thread.read({ kind: 'readDirectory', after, limit: READ_LIMIT });
      if (reply.kind !== 'records') throw new Error(`unexpected answer ${reply.kind}`);
      for (const { key, schema, blob } of reply.records) {
        const bytes = Buffer.from(blob.buffer, blob.byteOffset, blob.byteLength);
        const change = this.#decoderOf(schema).decode(bytes, 0);
        versions.set(key, change.version);
        apply(change);
        after = key;
      }
      if (!reply.more) return versions;
    }
  }
}
