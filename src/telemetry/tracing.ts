/** Starts OpenTelemetry in one of our programs. Loaded only where traces are configured. */

import { AsyncLocalStorage } from 'node:async_hooks';
import { type Context, type ContextManager, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResourcesSync, envDetectorSync, Resource } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor, type SpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { Environment } from '../model/products.ts';
import { safeExporter } from './safe-spans.ts';

// Carries OpenTelemetry's current context along with Node's own AsyncLocalStorage.

class AsyncContextManager implements ContextManager {
  readonly #storage = new AsyncLocalStorage<Context>();

  active(): Context {
    return this.#storage.getStore() ?? ROOT_CONTEXT;
  }

  with<A extends unknown[], F extends (...args: A) => ReturnType<F>>(
    context: Context,
    fn: F,
    thisArg?: ThisParameterType<F>,
    ...args: A
  ): ReturnType<F> {
    return this.#storage.run(context, () => fn.apply(thisArg, args));
  }

  bind<T>(context: Context, target: T): T {
    if (typeof target !== 'function') return target;
    const bound = (...args: unknown[]) => this.with(context, () => target.apply(undefined, args));
    return bound as T;
  }

  enable(): this {
    return this;
  }

  disable(): this {
    this.#storage.disable();
    return this;
  }
}

interface TracingOptions {
  /** An OTLP/HTTP collector, without `/v1/traces`. */
  endpoint: string;
  /** `service.name`. */
  serviceName: string;
  environment?: Environment;
}

interface Tracing {
  resource: Resource;
  /** The processor for spans from elsewhere: from the workflows' sandbox. */
  processor: SpanProcessor;
  /**
   * Sends the remaining spans, within the exporter's time-out. Never rejects: no program should fail because of traces.
   */
  close(): Promise<void>;
}

/** A collector that does not answer must not keep a program from ending. */
const EXPORT_TIMEOUT_MS = 3_000;

/**
 * Registers a tracer provider, W3C trace context and a context manager for this process. A program that was started
 * with instrumentation of its own keeps its own, and gets our spans.
 */
export function startTracing({ endpoint, serviceName, environment }: TracingOptions): Tracing {
  const ours = new Resource({
    'service.name': serviceName,
    ...(environment === undefined ? {} : { 'deployment.environment.name': environment }),
  });
  // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES take precedence over ours.
  const resource = Resource.default()
    .merge(ours)
    .merge(new Resource(detectResourcesSync({ detectors: [envDetectorSync] }).attributes));
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/$/, '')}/v1/traces`,
    timeoutMillis: EXPORT_TIMEOUT_MS,
  });
  const processor = new BatchSpanProcessor(safeExporter(exporter), { exportTimeoutMillis: EXPORT_TIMEOUT_MS });
  const provider = new BasicTracerProvider({ resource, spanProcessors: [processor] });
  if (trace.setGlobalTracerProvider(provider)) provider.register({ contextManager: new AsyncContextManager() });
  return {
    resource,
    processor,
    close: () => provider.shutdown().catch(() => {}),
  };
}
