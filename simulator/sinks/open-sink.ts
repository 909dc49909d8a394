import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { usage } from '../exit.ts';
import type { SinkOptions } from '../scenario/run-options.ts';
import { type Session, unreadable } from '../session.ts';
import { directUrl } from './direct.ts';
import { apiSink, directSink, type EventSink, fileSink, streamSink } from './sinks.ts';

/** Opens the sink that --sink names. Throws a usage failure for options that it needs but lacks. */
export async function openSink(session: Session, options: SinkOptions): Promise<EventSink> {
  switch (options.sink) {
    case 'api':
      return apiSink(session.producer());
    case 'kafka': {
      // The Kafka client is large.
      const { kafkaSink } = await import('./kafka-sink.ts');
      return kafkaSink(session.settings, session.surroundings.environment);
    }
    case 'stdout':
      return streamSink(session.surroundings.stdout);
    case 'file':
      if (options.out === undefined) throw usage('--sink file needs --out <file>');
      return fileSink(options.out);
    case 'direct': {
      const { to, secret } = options;
      if (to === undefined || secret === undefined)
        throw usage('--sink direct needs --to <url> and --secret <whsec_…>');
      return directSink({ url: directUrl(to), secret, ca: authorityFor(session, options.ca) });
    }
  }
}

/** Returns the given file, else the sandbox's own authority, else the system's. */
export function authorityFor({ settings }: Session, given: string | undefined): string | undefined {
  const path = given ?? settings.find('extraCaFile')?.value ?? join(settings.dataDir, 'ca.crt');
  if (given === undefined && !existsSync(path)) return undefined;
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw unreadable(path, error);
  }
}
