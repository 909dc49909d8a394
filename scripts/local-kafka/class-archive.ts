/**
 * Archives of a Java program's loaded classes: with one, Java starts the program with half the CPU time ("dynamic class
 * data sharing" of the JDK). Each is recorded once per Java and program, by a first run that does nothing else.
 */
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cached, type JarsContext, type Java } from './artifacts.ts';

const ARCHIVE = 'classes.jsa';
/** An archive is written when the program exits, within seconds; SIGKILL before that would lose it. Milliseconds. */
export const RECORDED_MS_MAX = 120_000;

/**
 * Returns Java's arguments for starting the program with its archive; none where Java cannot make one.
 *
 * `program`: its name and version, for example `kafka-4.3.1`. `record`: starts the program with the arguments and in the
 * folder that it is given, and resolves when it has exited by itself.
 */
export async function archivedClasses(
  program: string,
  java: Java,
  context: JarsContext,
  record: (args: readonly string[], folder: string) => Promise<void>,
): Promise<readonly string[]> {
  const name = `${program}-classes-${java.build}`;
  try {
    const folder = await cached(name, context, async (unfinished) => {
      context.say(`Recording the classes of ${program} for quicker starts, once …`);
      const data = join(unfinished, 'data');
      mkdirSync(data);
      await record([`-XX:ArchiveClassesAtExit=${join(unfinished, ARCHIVE)}`], data);
      rmSync(data, { recursive: true });
    });
    const archive = join(folder, ARCHIVE);
    return existsSync(archive) ? [`-XX:SharedArchiveFile=${archive}`] : [];
  } catch {
    // The reason shows when the program itself is started.
    return [];
  }
}
