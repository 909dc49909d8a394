/** The jars of Kafka and the registry, fetched once from Maven Central into the user's cache. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from '../cache-folder.ts';
import type { Guard } from '../guard/guard.ts';

export const KAFKA = '4.3.1';
/** The last release line that runs on Java 17. */
export const APICURIO = '3.0.9';
const JAVA_MIN = 17;
// Newer ones require the registry's parent pom, which Maven Central does not have.
const DEPENDENCY_PLUGIN = 'org.apache.maven.plugins:maven-dependency-plugin:2.8';

export interface JarsContext {
  readonly guard: Guard;
  readonly environment: NodeJS.ProcessEnv;
  /** Reports progress, one line at a time. */
  readonly say: (line: string) => void;
}

export interface Java {
  /** The command, or the path of it. */
  readonly command: string;
  /** Identifies its version and build. */
  readonly build: string;
}

/** Returns the Java to use; rejects with one line when there is none of version 17 or newer. */
export async function findJava(context: JarsContext): Promise<Java> {
  const home = context.environment.JAVA_HOME;
  const command = home ? join(home, 'bin', 'java') : 'java';
  const advice = `Install a JDK of version ${JAVA_MIN} or newer (Debian: openjdk-17-jre-headless), or set JAVA_HOME to one.`;
  const { code, output } = await run(command, ['-version'], context);
  if (code !== 0)
    throw new Error(`A local Kafka needs Java ${JAVA_MIN}, but \`${command}\` cannot be run. ${advice}`);
  const version = /version "(\d+)/.exec(output)?.[1];
  if (Number(version) < JAVA_MIN) {
    throw new Error(
      `A local Kafka needs Java ${JAVA_MIN}, but \`${command}\` is version ${version}. ${advice}`,
    );
  }
  return { command, build: createHash('sha256').update(output).digest('hex').slice(0, 16) };
}

/** Returns the folder of Kafka's jars. */
export function kafkaJars(context: JarsContext): Promise<string> {
  return cached(`kafka-${KAFKA}`, context, async (folder) => {
    context.say(`Fetching Kafka ${KAFKA} from Maven Central (45 MB), once …`);
    const pom = join(folder, 'pom.xml');
    writeFileSync(pom, POM);
    await copyDependencies(pom, folder, context);
  });
}

/** Copies the runtime dependencies of this pom into the folder. */
export function copyDependencies(pom: string, folder: string, context: JarsContext): Promise<void> {
  // The output folder is relative to the pom.
  const options = ['-DincludeScope=runtime', `-DoutputDirectory=${folder}`];
  return maven(['-f', pom, `${DEPENDENCY_PLUGIN}:copy-dependencies`, ...options], context);
}

/** Returns the registry's jar. */
export async function registryJar(context: JarsContext): Promise<string> {
  const folder = await cached(`apicurio-registry-${APICURIO}`, context, async (target) => {
    context.say(`Fetching Apicurio Registry ${APICURIO} from Maven Central (109 MB), once …`);
    const artifact = `io.apicurio:apicurio-registry-app:${APICURIO}:tar.gz:all`;
    await maven(
      [`${DEPENDENCY_PLUGIN}:copy`, `-Dartifact=${artifact}`, `-DoutputDirectory=${target}`],
      context,
    );
    const archive = readdirSync(target).find((name) => name.endsWith('.tar.gz')) ?? '';
    const { code, output } = await run('tar', ['-xzf', join(target, archive), '-C', target], context);
    if (code !== 0) throw new Error(`${archive} cannot be unpacked with \`tar\`: ${lastLine(output)}`);
    rmSync(join(target, archive));
  });
  return join(folder, `apicurio-registry-app-${APICURIO}-runner.jar`);
}

/** Returns a folder of the cache, filled by `fill` where it is missing. */
export function cached(
  name: string,
  { guard, environment }: JarsContext,
  fill: (folder: string) => Promise<void>,
): Promise<string> {
  return cacheFolder(name, { environment, onUnfinished: (folder) => guard.removeAtEnd(folder) }, fill);
}

async function maven(args: readonly string[], context: JarsContext): Promise<void> {
  const { code, output } = await run('mvn', ['-B', '-q', '-Dstyle.color=never', ...args], context);
  if (code === 0) return;
  if (code === undefined) {
    throw new Error(
      'A local Kafka is fetched with Maven, but `mvn` cannot be run. Install Maven 3 (Debian: maven); it is needed only once.',
    );
  }
  const reason = output.split('\n').find((line) => line.includes('ERROR')) ?? lastLine(output);
  throw new Error(
    `Maven could not fetch a local Kafka. Check that Maven Central can be reached, then try again. Maven says: ${reason.slice(0, 400)}`,
  );
}

/** Runs a program until it exits. `code` is undefined when it could not be started. */
function run(
  command: string,
  args: readonly string[],
  { guard, environment }: JarsContext,
): Promise<{ code: number | null | undefined; output: string }> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env: environment });
  if (child.pid !== undefined) guard.watch(child.pid);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk;
    });
  }
  return new Promise((resolve) => {
    child.once('error', () => resolve({ code: undefined, output }));
    child.once('close', (code) => {
      if (child.pid !== undefined) guard.forget(child.pid);
      resolve({ code, output });
    });
  });
}

/** Runs a Java program until it exits; rejects with the last line of its output when it fails. */
export async function runJava(java: string, args: readonly string[], context: JarsContext): Promise<void> {
  const { code, output } = await run(java, args, context);
  if (code !== 0) throw new Error(lastLine(output));
}

function lastLine(output: string): string {
  return output.trim().split('\n').at(-1) ?? '';
}

// This Kafka's slf4j-api only finds simpleLogger 1.7; version 2 would log nothing.
const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>local</groupId><artifactId>kafka</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>${KAFKA}</version></dependency>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-simple</artifactId><version>1.7.36</version></dependency>
  </dependencies>
</project>
`;
