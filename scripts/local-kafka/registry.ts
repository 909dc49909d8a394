import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../free-ports.ts';
import type { Guard } from '../guard/guard.ts';
import { APICURIO, type JarsContext, type Java } from './artifacts.ts';
import { archivedClasses, RECORDED_MS_MAX } from './class-archive.ts';
import { JavaProcess } from './java-process.ts';

/** The path of the registry's Confluent-compatible API. */
const PATH = '/apis/ccompat/v7';

export interface RegistryOptions {
  readonly java: Java;
  /** Arguments with which Java finds the archive of its classes, or makes it; see `archivedClasses`. */
  readonly classes: readonly string[];
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
      java: options.java.command,
      args: javaArgs(options),
      logFile: join(options.folder, 'output.log'),
      isReady: async () => (await fetch(`${url}/subjects`, { signal: AbortSignal.timeout(2_000) })).ok,
      onUnexpectedEnd: options.onUnexpectedEnd,
      guard: options.guard,
    });
    this.url = url;
  }
}

/** Returns the arguments with which Java finds the archive of the registry's classes, which it makes where it is missing. */
export function archiveOfRegistry(java: Java, jar: string, context: JarsContext): Promise<readonly string[]> {
  return archivedClasses(`apicurio-registry-${APICURIO}`, java, context, async (classes, folder) => {
    const { guard } = context;
    const port = await freePort();
    const registry = new LocalRegistry({
      java,
      jar,
      port,
      classes,
      folder,
      guard,
      onUnexpectedEnd: () => {},
    });
    await registry.start();
    await registry.stop(RECORDED_MS_MAX);
  });
}

function javaArgs({ folder, jar, port, classes }: RegistryOptions): string[] {
  return [
    ...classes,
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
