import { type Hookrail, startHookrail } from '../../../services/main.ts';

/** A service in this process that a test stops and starts again. */
export class Embedded {
  hookrail: Hookrail | null = null;

  /** The service. Throws while it is stopped. */
  get running(): Hookrail {
    if (!this.hookrail) throw new Error('the service is stopped');
    return this.hookrail;
  }

  async start(environment: Record<string, string>): Promise<void> {
    this.hookrail = await startHookrail(environment);
  }

  async stop(): Promise<void> {
    await this.hookrail?.stop();
    this.hookrail = null;
  }
}
