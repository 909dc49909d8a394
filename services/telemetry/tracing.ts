import { ProxyTracerProvider, type Tracer, trace } from '@opentelemetry/api';
import type { TracingConfig } from '../config/tracing-config.ts';
import type { Clock } from '../process/clock.ts';
import type { Logger } from './logger.ts';
import { SCOPE, type Tracing } from './tracer.ts';

const OFF: Tracing = { tracer: null, stop: () => Promise.resolve() };

/**
 * Starts tracing where it is configured; the SDK is loaded only then. An SDK that is already registered, by a preload
 * or by the hosting process, is used as it is, and its owner flushes it.
 */
export async function startTracing(
  config: TracingConfig,
  deps: { readonly clock: Clock; readonly log: Logger },
): Promise<Tracing> {
  const registered = registeredTracer();
  if (registered) return { ...OFF, tracer: registered };
  for (const line of config.ignored) deps.log.warn(line);
  if (config.exporters.length === 0) return OFF;
  const { openTracingSdk } = await import('./tracing-sdk.ts');
  return openTracingSdk(config.exporters, deps);
}

function registeredTracer(): Tracer | undefined {
  const provider = trace.getTracerProvider();
  if (!(provider instanceof ProxyTracerProvider)) return provider.getTracer(SCOPE);
  return provider.getDelegateTracer(SCOPE);
}
