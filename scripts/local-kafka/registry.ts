import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Guard } from './guard.ts';
import { JavaProcess } from './java-process.ts';

/** The path of the registry's Confluent-compatible API. */
const PATH = '/apis/ccompat/v7';

export interface RegistryOptions {
  readonly java: string;
  readonly jar: string;
  readonly port: number;
  /** The registry's own folder, for its output and data. */
  readonly folder: string;
  readonly guard: Guard;
  readonly onUnexpectedEnd: (reason: string) => void;
}

/** A schema registry. Schemas and their ids are stored in a file, so that they survive a restart and a kill. */
export class LocalRegistry extends JavaProcess {
  readonly url: string;

  constructor(options: RegistryOptions) {
    const url = `http://127.0.0.1:${options.port}${PATH}`;
    mkdirSync(join(options.folder, 'tmp'), { recursive: true });
    super({
      name: 'The schema registry',
      java: options.java,
      args: javaArgs(options),
      logFile: join(options.folder, 'output.log'),
      isReady: async () => (await fetch(`${url}/subjects`, { signal: AbortSignal.timeout(2_000) })).ok,
      onUnexpectedEnd: options.onUnexpectedEnd,
      guard: options.guard,
    });
    this.url = url;
  }
}

function javaArgs({ folder, jar, port }: RegistryOptions): string[] {
  return [
    ...['-Xms64m', '-Xmx320m', '-XX:+UseSerialGC', '-XX:-UsePerfData'],
    // It has little work, none of it urgent: using only Java's first compiler halves the CPU time of its start.
    '-XX:TieredStopAtLevel=1',
    `-Djava.io.tmpdir=${join(folder, 'tmp')}`,
    '-Dquarkus.http.host=127.0.0.1',
    `-Dquarkus.http.port=${port}`,
    '-Dquarkus.http.access-log.enabled=false',
    // WRITE_DELAY=0: data is in the file before the response is sent.
    `-Dapicurio.datasource.url=jdbc:h2:file:${join(folder, 'schemas')};WRITE_DELAY=0;DB_CLOSE_ON_EXIT=FALSE`,
    '-Dapicurio.datasource.jdbc.initial-size=2',
    '-Dapicurio.datasource.jdbc.min-size=2',
    ...['-jar', jar],
  ];
}
