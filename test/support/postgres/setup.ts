/** One PostgreSQL server for a whole test run (run-wide.ts). Each test file creates databases of its own. */
import type { TestProject } from 'vitest/node';
import { startLocalPostgres } from '../../../scripts/local-postgres/server.ts';
import { type RunWide, serveRunWide } from '../run-wide.ts';
import type { PostgresForTests } from './suites.ts';

declare module 'vitest' {
  interface ProvidedContext {
    postgresStarterUrl: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { url, stop } = await serveRunWide(start);
  project.provide('postgresStarterUrl', url);
  return stop;
}

async function start(): Promise<RunWide<PostgresForTests>> {
  // Whether the files are durable is tested on servers that tests start themselves.
  const settings = { fsync: 'off', max_connections: '300' };
  const server = await startLocalPostgres({ environment: process.env, settings });
  return { address: { url: server.url() }, stop: () => server.dispose() };
}
