import { isIP } from 'node:net';

type Environment = Readonly<Record<string, string | undefined>>;

/** The beginnings of an address as links have it. */
const ADDRESS = /^(?:tcp|udp|sctp):\/\//;
/** The variables of a link, without the name of the Service. */
const OF_A_LINK =
  /^(?:SERVICE_HOST|SERVICE_PORT|SERVICE_PORT_\w+|PORT|PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?|NAME|ENV_\w+)$/;
/** A setting of hookrail may have the same name: the value tells. */
const OF_A_SETTING = 'PORT';

/**
 * Returns the names of the `HOOKRAIL_*` variables that an orchestrator has set: Kubernetes sets some in every pod for each
 * Service of the namespace (`HOOKRAIL_API_PORT=tcp://10.96.12.7:8080` for one named `hookrail-api`), Docker for each link.
 * A setting of that name that was given has another value, and is not among them.
 */
export function serviceLinks(environment: Environment): readonly string[] {
  const names = Object.keys(environment).filter((name) => name.startsWith('HOOKRAIL_'));
  const services = names.flatMap((name) => serviceOf(name, environment[name] ?? ''));
  return names.filter((name) =>
    services.some((service) => {
      if (!name.startsWith(`${service}_`)) return false;
      const rest = name.slice(service.length + 1);
      if (rest === OF_A_SETTING) return ADDRESS.test(environment[name] ?? '');
      return OF_A_LINK.test(rest);
    }),
  );
}

/** Returns the environment without some variables. */
export function without(environment: Environment, names: readonly string[]): Environment {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !names.includes(name)));
}

/** Returns the prefix of the variables of a Service, if this is one that shows that there is such a Service. */
function serviceOf(name: string, value: string): readonly string[] {
  if (name.endsWith('_SERVICE_HOST') && isIP(value) > 0) return [name.slice(0, -'_SERVICE_HOST'.length)];
  if (name.endsWith('_PORT') && ADDRESS.test(value)) return [name.slice(0, -'_PORT'.length)];
  return [];
}
