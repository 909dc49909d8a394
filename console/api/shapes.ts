import type { components } from '../../client/generated/merchant-api.ts';

type Schemas = components['schemas'];
export type Endpoint = Schemas['WebhookEndpoint'];
export type Delivery = Schemas['Delivery'];
export type DeliveryDetail = Schemas['DeliveryDetail'];
export type Attempt = Schemas['Attempt'];
export type Story = Schemas['Story'];
export type StoryEvent = Schemas['StoryEvent'];
export type EventListed = Schemas['EventListed'];
export type Replay = Schemas['Replay'];
export type MetricSeries = Schemas['MetricSeries'];
export type TriggerEvent = Schemas['TriggerEvent'];
export type TriggeredEvent = Schemas['TriggeredEvent'];
export type Resent = Schemas['Resent'];
export type Metrics = Schemas['Metrics'];
export type TestResult = Schemas['TestResult'];
export type TestQueued = Schemas['TestQueued'];
