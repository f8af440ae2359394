// @ts-nocheck
// Written by scripts/generate-config.mjs with ajv from schema/: change the schema and run npm run generate.
import type { ErrorObject } from 'ajv'
import { checkKind, checkScalar, checkWord, type Literals } from '../schema/keywords.js'

interface Validator {
  (this: Literals, root: unknown): boolean
  readonly errors?: readonly ErrorObject[] | null
}

/** Whether a whole document meets schema/config.json. What is wrong with the last one is in `errors`. */
export const validator: Validator = validate52
const schema19 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/config.json","title":"Configuration","description":"The contents of a configuration file.","type":"object","properties":{"stores":{"description":"Stores of blobs and results: an array of entries with `name`, or an object by name.","type":["array","object"],"x-key":"name","items":{"$ref":"https://remexec.invalid/schema/store.json"},"additionalProperties":{"$ref":"https://remexec.invalid/schema/store.json"}},"schedulers":{"description":"Schedulers, which assign actions to workers: an array of entries with `name`, or an object by name.","type":["array","object"],"x-key":"name","items":{"$ref":"https://remexec.invalid/schema/scheduler.json"},"additionalProperties":{"$ref":"https://remexec.invalid/schema/scheduler.json"},"default":[]},"workers":{"description":"Workers in this process: an array, or an object by name.","type":["array","object"],"x-key":"name","x-key-optional":true,"items":{"$ref":"https://remexec.invalid/schema/worker.json"},"additionalProperties":{"$ref":"https://remexec.invalid/schema/worker.json"},"default":[]},"servers":{"description":"Listeners and the services on them: an array, or an object by name.","type":["array","object"],"x-key":"name","x-key-optional":true,"items":{"$ref":"https://remexec.invalid/schema/server.json"},"additionalProperties":{"$ref":"https://remexec.invalid/schema/server.json"}},"instances":{"description":"Settings of single instances: an array of entries with `instance_name`, or an object by instance name. An instance without an entry shares its stores with others and has no limits of its own.","type":["array","object"],"x-key":"instance_name","items":{"$ref":"https://remexec.invalid/schema/instance.json"},"additionalProperties":{"$ref":"https://remexec.invalid/schema/instance.json"},"default":[]},"global":{"description":"Settings of the whole process.","$ref":"https://remexec.invalid/schema/global.json","default":{}},"security":{"description":"Which callers may call, and what each may do. Left out: every caller may do everything.","$ref":"https://remexec.invalid/schema/security.json"},"experimental_origin_events":{"title":"OriginEvents","x-lenient":"always","description":"Publish the requests of clients to a store.","type":"object","properties":{"publisher":{"title":"OriginEventPublisher","description":"Where events go.","type":"object","properties":{"store":{"description":"The store that receives them.","type":"string","x-names":"stores"}},"additionalProperties":false,"required":["store"]},"max_event_queue_size":{"description":"Most events waiting.","type":["integer","string"],"x-value":"count","minimum":0,"default":65536,"x-zero-is-default":true}},"additionalProperties":false,"required":["publisher"],"x-available":false}},"additionalProperties":false,"required":["stores","servers"]};
const schema20 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/store.json","title":"Store","description":"A store: exactly one kind and its settings; in the array form of `stores` also its `name`.","x-kinds":"store","x-lenient":"always","type":"object","additionalProperties":false,"properties":{"name":{"description":"The name by which services, workers and other stores refer to it.","type":"string"},"memory":{"$ref":"https://remexec.invalid/schema/store/memory.json"},"filesystem":{"$ref":"https://remexec.invalid/schema/store/filesystem.json"},"fast_slow":{"$ref":"https://remexec.invalid/schema/store/fast_slow.json"},"compression":{"$ref":"https://remexec.invalid/schema/store/compression.json"},"dedup":{"$ref":"https://remexec.invalid/schema/store/dedup.json"},"verify":{"$ref":"https://remexec.invalid/schema/store/verify.json"},"existence_cache":{"$ref":"https://remexec.invalid/schema/store/existence_cache.json"},"completeness_checking":{"$ref":"https://remexec.invalid/schema/store/completeness_checking.json"},"size_partitioning":{"$ref":"https://remexec.invalid/schema/store/size_partitioning.json"},"shard":{"$ref":"https://remexec.invalid/schema/store/shard.json"},"ref_store":{"$ref":"https://remexec.invalid/schema/store/ref_store.json"},"noop":{"$ref":"https://remexec.invalid/schema/store/noop.json"},"grpc":{"$ref":"https://remexec.invalid/schema/store/grpc.json"},"redis_store":{"$ref":"https://remexec.invalid/schema/store/redis_store.json"},"experimental_mongo":{"$ref":"https://remexec.invalid/schema/store/experimental_mongo.json"},"experimental_cloud_object_store":{"$ref":"https://remexec.invalid/schema/store/experimental_cloud_object_store.json"},"experimental_s3_store":{"$ref":"https://remexec.invalid/schema/store/experimental_s3_store.json"},"ontap_s3_existence_cache":{"$ref":"https://remexec.invalid/schema/store/ontap_s3_existence_cache.json"},"cache_metrics":{"$ref":"https://remexec.invalid/schema/store/cache_metrics.json"}}};
const func1 = Object.prototype.hasOwnProperty;
const schema21 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/store/memory.json","title":"memory","description":"Keeps blobs in the memory of the process; gone after a restart. For small caches and tests: always give it `max_bytes`.","type":"object","properties":{"eviction_policy":{"description":"When entries are evicted; without it nothing is.","$ref":"https://remexec.invalid/schema/shared/eviction_policy.json","default":{}},"retention":{"description":"How long a blob is kept at least after it was uploaded, read, found by FindMissingBlobs, or named by a served action cache hit. Clients that build without the bytes rely on it: Bazel assumes 3 hours (`--experimental_remote_cache_ttl`). A build that is alive keeps what it used for longer. The promise is broken only if there is no room, see `when_full`; metrics and the log then say so. `max_seconds` of the eviction policy, if it is shorter, limits it. 0 promises nothing.","type":["integer","string"],"x-value":"duration","minimum":0,"maximum":31536000,"default":10800},"when_full":{"description":"What happens when an upload needs room and everything is promised (`retention`). `break`: the oldest promise is broken and its blob evicted; a promise to a build that is alive goes last. `refuse`: uploads that would promise more than 80 % of `max_bytes` fail with RESOURCE_EXHAUSTED, so that every hit stays true. Take `refuse` if lost inputs cost more than actions that are not cached; not with workers, whose results would be refused too.","type":"string","enum":["break","refuse"],"default":"break"}},"additionalProperties":false};
const schema22 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/shared/eviction_policy.json","title":"EvictionPolicy","description":"When a store evicts entries. The least recently used go first; without any limit nothing is ever evicted.","type":"object","properties":{"max_bytes":{"description":"Most bytes the store keeps; 0 means no limit. In a `memory` or `filesystem` store all uploads in flight together may hold a third more than that beside them.","type":["integer","string"],"x-value":"size","default":0},"evict_bytes":{"description":"Above `max_bytes`, eviction continues until this many bytes below it are free, so that not every later write has to evict.","type":["integer","string"],"x-value":"size","default":0},"max_seconds":{"description":"Entries that were not used for this many seconds are evicted; 0 keeps them.","type":["integer","string"],"x-value":"duration","default":0},"max_count":{"description":"Most entries the store keeps; 0 means no limit.","type":["integer","string"],"x-value":"count","minimum":0,"default":0}},"additionalProperties":false};

function validate55(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/shared/eviction_policy.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate55.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!((((key0 === "max_bytes") || (key0 === "evict_bytes")) || (key0 === "max_seconds")) || (key0 === "max_count"))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema22,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.max_bytes !== undefined){
let data0 = data.max_bytes;
if((!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))) && (typeof data0 !== "string")){
const err1 = {instancePath:instancePath+"/max_bytes",schemaPath:"#/properties/max_bytes/type",keyword:"type",params:{type: schema22.properties.max_bytes.type},message:"must be integer,string",schema:schema22.properties.max_bytes.type,parentSchema:schema22.properties.max_bytes,data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
const reason0 = checkScalar.call(this, "size", data0, schema22.properties.max_bytes, instancePath+"/max_bytes");
if(reason0 !== undefined){
const err2 = {instancePath:instancePath+"/max_bytes",schemaPath:"#/properties/max_bytes/x-value",keyword:"x-value",params:{},message:reason0,schema:"size",parentSchema:schema22.properties.max_bytes,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.evict_bytes !== undefined){
let data1 = data.evict_bytes;
if((!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))) && (typeof data1 !== "string")){
const err3 = {instancePath:instancePath+"/evict_bytes",schemaPath:"#/properties/evict_bytes/type",keyword:"type",params:{type: schema22.properties.evict_bytes.type},message:"must be integer,string",schema:schema22.properties.evict_bytes.type,parentSchema:schema22.properties.evict_bytes,data:data1};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
const reason1 = checkScalar.call(this, "size", data1, schema22.properties.evict_bytes, instancePath+"/evict_bytes");
if(reason1 !== undefined){
const err4 = {instancePath:instancePath+"/evict_bytes",schemaPath:"#/properties/evict_bytes/x-value",keyword:"x-value",params:{},message:reason1,schema:"size",parentSchema:schema22.properties.evict_bytes,data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.max_seconds !== undefined){
let data2 = data.max_seconds;
if((!(((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2))) && (isFinite(data2)))) && (typeof data2 !== "string")){
const err5 = {instancePath:instancePath+"/max_seconds",schemaPath:"#/properties/max_seconds/type",keyword:"type",params:{type: schema22.properties.max_seconds.type},message:"must be integer,string",schema:schema22.properties.max_seconds.type,parentSchema:schema22.properties.max_seconds,data:data2};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
const reason2 = checkScalar.call(this, "duration", data2, schema22.properties.max_seconds, instancePath+"/max_seconds");
if(reason2 !== undefined){
const err6 = {instancePath:instancePath+"/max_seconds",schemaPath:"#/properties/max_seconds/x-value",keyword:"x-value",params:{},message:reason2,schema:"duration",parentSchema:schema22.properties.max_seconds,data:data2};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data.max_count !== undefined){
let data3 = data.max_count;
if((!(((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3))) && (isFinite(data3)))) && (typeof data3 !== "string")){
const err7 = {instancePath:instancePath+"/max_count",schemaPath:"#/properties/max_count/type",keyword:"type",params:{type: schema22.properties.max_count.type},message:"must be integer,string",schema:schema22.properties.max_count.type,parentSchema:schema22.properties.max_count,data:data3};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
const reason3 = checkScalar.call(this, "count", data3, schema22.properties.max_count, instancePath+"/max_count");
if(reason3 !== undefined){
const err8 = {instancePath:instancePath+"/max_count",schemaPath:"#/properties/max_count/x-value",keyword:"x-value",params:{},message:reason3,schema:"count",parentSchema:schema22.properties.max_count,data:data3};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
if((typeof data3 == "number") && (isFinite(data3))){
if(data3 < 0 || isNaN(data3)){
const err9 = {instancePath:instancePath+"/max_count",schemaPath:"#/properties/max_count/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema22.properties.max_count,data:data3};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
}
}
else {
const err10 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema22.type,parentSchema:schema22,data};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
validate55.errors = vErrors;
return errors === 0;
}
validate55.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};


function validate54(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/store/memory.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate54.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!(((key0 === "eviction_policy") || (key0 === "retention")) || (key0 === "when_full"))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema21,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.eviction_policy !== undefined){
if(!(validate55.call(this, data.eviction_policy, {instancePath:instancePath+"/eviction_policy",parentData:data,parentDataProperty:"eviction_policy",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate55.errors);
errors = vErrors.length;
}
}
if(data.retention !== undefined){
let data1 = data.retention;
if((!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))) && (typeof data1 !== "string")){
const err1 = {instancePath:instancePath+"/retention",schemaPath:"#/properties/retention/type",keyword:"type",params:{type: schema21.properties.retention.type},message:"must be integer,string",schema:schema21.properties.retention.type,parentSchema:schema21.properties.retention,data:data1};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
const reason0 = checkScalar.call(this, "duration", data1, schema21.properties.retention, instancePath+"/retention");
if(reason0 !== undefined){
const err2 = {instancePath:instancePath+"/retention",schemaPath:"#/properties/retention/x-value",keyword:"x-value",params:{},message:reason0,schema:"duration",parentSchema:schema21.properties.retention,data:data1};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if((typeof data1 == "number") && (isFinite(data1))){
if(data1 > 31536000 || isNaN(data1)){
const err3 = {instancePath:instancePath+"/retention",schemaPath:"#/properties/retention/maximum",keyword:"maximum",params:{comparison: "<=", limit: 31536000},message:"must be <= 31536000",schema:31536000,parentSchema:schema21.properties.retention,data:data1};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(data1 < 0 || isNaN(data1)){
const err4 = {instancePath:instancePath+"/retention",schemaPath:"#/properties/retention/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema21.properties.retention,data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
}
if(data.when_full !== undefined){
let data2 = data.when_full;
if(typeof data2 !== "string"){
const err5 = {instancePath:instancePath+"/when_full",schemaPath:"#/properties/when_full/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema21.properties.when_full.type,parentSchema:schema21.properties.when_full,data:data2};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if(!((data2 === "break") || (data2 === "refuse"))){
const err6 = {instancePath:instancePath+"/when_full",schemaPath:"#/properties/when_full/enum",keyword:"enum",params:{allowedValues: schema21.properties.when_full.enum},message:"must be equal to one of the allowed values",schema:schema21.properties.when_full.enum,parentSchema:schema21.properties.when_full,data:data2};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
}
else {
const err7 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema21.type,parentSchema:schema21,data};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
validate54.errors = vErrors;
return errors === 0;
}
validate54.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema23 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/store/filesystem.json","title":"filesystem","description":"Keeps large blobs as files and small ones together in a log. Entries and their recency survive a restart. Use it for everything larger than memory; workers can link inputs only from this store.","type":"object","properties":{"content_path":{"description":"Directory of the stored blobs. No other store and no work directory may share it.","type":"string","x-path":true},"temp_path":{"description":"Directory for blobs being written; emptied at start. Must be on the same file system as `content_path`, because a finished blob is moved there.","type":"string","x-path":true},"read_buffer_size":{"description":"Initial bytes per read of a file that passes checks, compression or another store; a reader that keeps up gets up to 256 KiB. A file sent without change is read by 64 to 256 KiB, depending on the client's free window.","type":["integer","string"],"x-value":"size","default":32768,"x-zero-is-default":true},"eviction_policy":{"description":"When entries are evicted; without it nothing is.","$ref":"https://remexec.invalid/schema/shared/eviction_policy.json","default":{}},"retention":{"description":"How long a blob is kept at least after it was uploaded, read, found by FindMissingBlobs, or named by a served action cache hit. Clients that build without the bytes rely on it: Bazel assumes 3 hours (`--experimental_remote_cache_ttl`). A build that is alive keeps what it used for longer. The promise is broken only if there is no room, see `when_full`; metrics and the log then say so. `max_seconds` of the eviction policy, if it is shorter, limits it. 0 promises nothing.","type":["integer","string"],"x-value":"duration","minimum":0,"maximum":31536000,"default":10800},"when_full":{"description":"What happens when an upload needs room and everything is promised (`retention`). `break`: the oldest promise is broken and its blob evicted; a promise to a build that is alive goes last. `refuse`: uploads that would promise more than 80 % of `max_bytes` fail with RESOURCE_EXHAUSTED, so that every hit stays true. Take `refuse` if lost inputs cost more than actions that are not cached; not with workers, whose results would be refused too.","type":"string","enum":["break","refuse"],"default":"break"},"block_size":{"description":"A file counts as its size rounded up to this many bytes, its size on disk. A small blob counts as its record plus a third, for space that is not reclaimed yet.","type":["integer","string"],"x-value":"size","default":4096,"x-zero-is-default":true},"max_concurrent_writes":{"description":"Most file writes in flight; further ones wait. 0 means no limit. An upload that waits for its client does not count.","type":["integer","string"],"x-value":"count","minimum":0,"default":0},"durability":{"description":"Which failures an acknowledged upload survives. `process_exit`: any crash of the server, including kill -9. A power loss may lose the last seconds of uploads; a truncated file is detected and counts as a miss. `power_loss`: that as well, because file and folder are synced to the disk before an upload is acknowledged.","type":"string","enum":["process_exit","power_loss"],"default":"process_exit"},"small_blob_size":{"description":"Blobs of up to this many bytes are kept together in a log, larger ones as one file each. Writing a file costs several times as much, but a worker links to a file instead of copying it. 0 keeps every blob as a file; at most 1 MiB.","type":["integer","string"],"x-value":"size","minimum":0,"maximum":1048576,"default":65536},"small_blob_cache_size":{"description":"Memory for recently read blobs of up to 16 KiB, above all actions and their results. 0 keeps none.","type":["integer","string"],"x-value":"size","default":16777216},"scrub_bytes_per_s":{"description":"Bytes per second that the store reads again in the background and compares with their checksums, and with their digests where the key of a blob is the hash of its content. A damaged blob is logged and is a miss until it is uploaded again. 0 turns this off; damage is then found at the first read after a start, for small blobs at every read.","type":["integer","string"],"x-value":"size","default":1048576},"evict_page_cache":{"description":"Ask the kernel to drop a blob from the page cache after it was read or written. Node cannot do this.","type":["boolean","string"],"x-value":"bool","default":false,"x-ignored":true}},"additionalProperties":false,"required":["content_path","temp_path"]};

function validate58(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/store/filesystem.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate58.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.content_path === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "content_path"},message:"must have required property '"+"content_path"+"'",schema:schema23.required,parentSchema:schema23,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.temp_path === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "temp_path"},message:"must have required property '"+"temp_path"+"'",schema:schema23.required,parentSchema:schema23,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
for(const key0 in data){
if(!(func1.call(schema23.properties, key0))){
const err2 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema23,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.content_path !== undefined){
let data0 = data.content_path;
if(typeof data0 !== "string"){
const err3 = {instancePath:instancePath+"/content_path",schemaPath:"#/properties/content_path/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema23.properties.content_path.type,parentSchema:schema23.properties.content_path,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.temp_path !== undefined){
let data1 = data.temp_path;
if(typeof data1 !== "string"){
const err4 = {instancePath:instancePath+"/temp_path",schemaPath:"#/properties/temp_path/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema23.properties.temp_path.type,parentSchema:schema23.properties.temp_path,data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.read_buffer_size !== undefined){
let data2 = data.read_buffer_size;
if((!(((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2))) && (isFinite(data2)))) && (typeof data2 !== "string")){
const err5 = {instancePath:instancePath+"/read_buffer_size",schemaPath:"#/properties/read_buffer_size/type",keyword:"type",params:{type: schema23.properties.read_buffer_size.type},message:"must be integer,string",schema:schema23.properties.read_buffer_size.type,parentSchema:schema23.properties.read_buffer_size,data:data2};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
const reason0 = checkScalar.call(this, "size", data2, schema23.properties.read_buffer_size, instancePath+"/read_buffer_size");
if(reason0 !== undefined){
const err6 = {instancePath:instancePath+"/read_buffer_size",schemaPath:"#/properties/read_buffer_size/x-value",keyword:"x-value",params:{},message:reason0,schema:"size",parentSchema:schema23.properties.read_buffer_size,data:data2};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data.eviction_policy !== undefined){
if(!(validate55.call(this, data.eviction_policy, {instancePath:instancePath+"/eviction_policy",parentData:data,parentDataProperty:"eviction_policy",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate55.errors);
errors = vErrors.length;
}
}
if(data.retention !== undefined){
let data4 = data.retention;
if((!(((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4))) && (isFinite(data4)))) && (typeof data4 !== "string")){
const err7 = {instancePath:instancePath+"/retention",schemaPath:"#/properties/retention/type",keyword:"type",params:{type: schema23.properties.retention.type},message:"must be integer,string",schema:schema23.properties.retention.type,parentSchema:schema23.properties.retention,data:data4};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
const reason1 = checkScalar.call(this, "duration", data4, schema23.properties.retention, instancePath+"/retention");
if(reason1 !== undefined){
const err8 = {instancePath:instancePath+"/retention",schemaPath:"#/properties/retention/x-value",keyword:"x-value",params:{},message:reason1,schema:"duration",parentSchema:schema23.properties.retention,data:data4};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
if((typeof data4 == "number") && (isFinite(data4))){
if(data4 > 31536000 || isNaN(data4)){
const err9 = {instancePath:instancePath+"/retention",schemaPath:"#/properties/retention/maximum",keyword:"maximum",params:{comparison: "<=", limit: 31536000},message:"must be <= 31536000",schema:31536000,parentSchema:schema23.properties.retention,data:data4};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
if(data4 < 0 || isNaN(data4)){
const err10 = {instancePath:instancePath+"/retention",schemaPath:"#/properties/retention/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema23.properties.retention,data:data4};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
}
if(data.when_full !== undefined){
let data5 = data.when_full;
if(typeof data5 !== "string"){
const err11 = {instancePath:instancePath+"/when_full",schemaPath:"#/properties/when_full/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema23.properties.when_full.type,parentSchema:schema23.properties.when_full,data:data5};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
if(!((data5 === "break") || (data5 === "refuse"))){
const err12 = {instancePath:instancePath+"/when_full",schemaPath:"#/properties/when_full/enum",keyword:"enum",params:{allowedValues: schema23.properties.when_full.enum},message:"must be equal to one of the allowed values",schema:schema23.properties.when_full.enum,parentSchema:schema23.properties.when_full,data:data5};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
if(data.block_size !== undefined){
let data6 = data.block_size;
if((!(((typeof data6 == "number") && (!(data6 % 1) && !isNaN(data6))) && (isFinite(data6)))) && (typeof data6 !== "string")){
const err13 = {instancePath:instancePath+"/block_size",schemaPath:"#/properties/block_size/type",keyword:"type",params:{type: schema23.properties.block_size.type},message:"must be integer,string",schema:schema23.properties.block_size.type,parentSchema:schema23.properties.block_size,data:data6};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
const reason2 = checkScalar.call(this, "size", data6, schema23.properties.block_size, instancePath+"/block_size");
if(reason2 !== undefined){
const err14 = {instancePath:instancePath+"/block_size",schemaPath:"#/properties/block_size/x-value",keyword:"x-value",params:{},message:reason2,schema:"size",parentSchema:schema23.properties.block_size,data:data6};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
if(data.max_concurrent_writes !== undefined){
let data7 = data.max_concurrent_writes;
if((!(((typeof data7 == "number") && (!(data7 % 1) && !isNaN(data7))) && (isFinite(data7)))) && (typeof data7 !== "string")){
const err15 = {instancePath:instancePath+"/max_concurrent_writes",schemaPath:"#/properties/max_concurrent_writes/type",keyword:"type",params:{type: schema23.properties.max_concurrent_writes.type},message:"must be integer,string",schema:schema23.properties.max_concurrent_writes.type,parentSchema:schema23.properties.max_concurrent_writes,data:data7};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
const reason3 = checkScalar.call(this, "count", data7, schema23.properties.max_concurrent_writes, instancePath+"/max_concurrent_writes");
if(reason3 !== undefined){
const err16 = {instancePath:instancePath+"/max_concurrent_writes",schemaPath:"#/properties/max_concurrent_writes/x-value",keyword:"x-value",params:{},message:reason3,schema:"count",parentSchema:schema23.properties.max_concurrent_writes,data:data7};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
if((typeof data7 == "number") && (isFinite(data7))){
if(data7 < 0 || isNaN(data7)){
const err17 = {instancePath:instancePath+"/max_concurrent_writes",schemaPath:"#/properties/max_concurrent_writes/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema23.properties.max_concurrent_writes,data:data7};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
}
}
if(data.durability !== undefined){
let data8 = data.durability;
if(typeof data8 !== "string"){
const err18 = {instancePath:instancePath+"/durability",schemaPath:"#/properties/durability/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema23.properties.durability.type,parentSchema:schema23.properties.durability,data:data8};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
if(!((data8 === "process_exit") || (data8 === "power_loss"))){
const err19 = {instancePath:instancePath+"/durability",schemaPath:"#/properties/durability/enum",keyword:"enum",params:{allowedValues: schema23.properties.durability.enum},message:"must be equal to one of the allowed values",schema:schema23.properties.durability.enum,parentSchema:schema23.properties.durability,data:data8};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
}
if(data.small_blob_size !== undefined){
let data9 = data.small_blob_size;
if((!(((typeof data9 == "number") && (!(data9 % 1) && !isNaN(data9))) && (isFinite(data9)))) && (typeof data9 !== "string")){
const err20 = {instancePath:instancePath+"/small_blob_size",schemaPath:"#/properties/small_blob_size/type",keyword:"type",params:{type: schema23.properties.small_blob_size.type},message:"must be integer,string",schema:schema23.properties.small_blob_size.type,parentSchema:schema23.properties.small_blob_size,data:data9};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
const reason4 = checkScalar.call(this, "size", data9, schema23.properties.small_blob_size, instancePath+"/small_blob_size");
if(reason4 !== undefined){
const err21 = {instancePath:instancePath+"/small_blob_size",schemaPath:"#/properties/small_blob_size/x-value",keyword:"x-value",params:{},message:reason4,schema:"size",parentSchema:schema23.properties.small_blob_size,data:data9};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
if((typeof data9 == "number") && (isFinite(data9))){
if(data9 > 1048576 || isNaN(data9)){
const err22 = {instancePath:instancePath+"/small_blob_size",schemaPath:"#/properties/small_blob_size/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1048576},message:"must be <= 1048576",schema:1048576,parentSchema:schema23.properties.small_blob_size,data:data9};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
if(data9 < 0 || isNaN(data9)){
const err23 = {instancePath:instancePath+"/small_blob_size",schemaPath:"#/properties/small_blob_size/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema23.properties.small_blob_size,data:data9};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
}
}
if(data.small_blob_cache_size !== undefined){
let data10 = data.small_blob_cache_size;
if((!(((typeof data10 == "number") && (!(data10 % 1) && !isNaN(data10))) && (isFinite(data10)))) && (typeof data10 !== "string")){
const err24 = {instancePath:instancePath+"/small_blob_cache_size",schemaPath:"#/properties/small_blob_cache_size/type",keyword:"type",params:{type: schema23.properties.small_blob_cache_size.type},message:"must be integer,string",schema:schema23.properties.small_blob_cache_size.type,parentSchema:schema23.properties.small_blob_cache_size,data:data10};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
const reason5 = checkScalar.call(this, "size", data10, schema23.properties.small_blob_cache_size, instancePath+"/small_blob_cache_size");
if(reason5 !== undefined){
const err25 = {instancePath:instancePath+"/small_blob_cache_size",schemaPath:"#/properties/small_blob_cache_size/x-value",keyword:"x-value",params:{},message:reason5,schema:"size",parentSchema:schema23.properties.small_blob_cache_size,data:data10};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
}
if(data.scrub_bytes_per_s !== undefined){
let data11 = data.scrub_bytes_per_s;
if((!(((typeof data11 == "number") && (!(data11 % 1) && !isNaN(data11))) && (isFinite(data11)))) && (typeof data11 !== "string")){
const err26 = {instancePath:instancePath+"/scrub_bytes_per_s",schemaPath:"#/properties/scrub_bytes_per_s/type",keyword:"type",params:{type: schema23.properties.scrub_bytes_per_s.type},message:"must be integer,string",schema:schema23.properties.scrub_bytes_per_s.type,parentSchema:schema23.properties.scrub_bytes_per_s,data:data11};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
const reason6 = checkScalar.call(this, "size", data11, schema23.properties.scrub_bytes_per_s, instancePath+"/scrub_bytes_per_s");
if(reason6 !== undefined){
const err27 = {instancePath:instancePath+"/scrub_bytes_per_s",schemaPath:"#/properties/scrub_bytes_per_s/x-value",keyword:"x-value",params:{},message:reason6,schema:"size",parentSchema:schema23.properties.scrub_bytes_per_s,data:data11};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
}
if(data.evict_page_cache !== undefined){
let data12 = data.evict_page_cache;
if((typeof data12 !== "boolean") && (typeof data12 !== "string")){
const err28 = {instancePath:instancePath+"/evict_page_cache",schemaPath:"#/properties/evict_page_cache/type",keyword:"type",params:{type: schema23.properties.evict_page_cache.type},message:"must be boolean,string",schema:schema23.properties.evict_page_cache.type,parentSchema:schema23.properties.evict_page_cache,data:data12};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
const reason7 = checkScalar.call(this, "bool", data12, schema23.properties.evict_page_cache, instancePath+"/evict_page_cache");
if(reason7 !== undefined){
const err29 = {instancePath:instancePath+"/evict_page_cache",schemaPath:"#/properties/evict_page_cache/x-value",keyword:"x-value",params:{},message:reason7,schema:"bool",parentSchema:schema23.properties.evict_page_cache,data:data12};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
}
}
else {
const err30 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema23.type,parentSchema:schema23,data};
if(vErrors === null){
vErrors = [err30];
}
else {
vErrors.push(err30);
}
errors++;
}
validate58.errors = vErrors;
return errors === 0;
}
validate58.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema24 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/store/fast_slow.json","title":"fast_slow","description":"Two tiers: a quick store in front of the authoritative one. Uploads go to both, and reads fill the fast store. The slow store decides whether a blob exists, unless it is `noop`. Blobs that the fast store serves count as used in the slow store: it hears of each in the background, at most once in five minutes. If the fast store fails, the rest of the blob comes from the slow one, and the read succeeds. Damage in a large file, e.g. by the disk, can show only at its end: the reader then gets DATA_LOSS once instead of the whole blob, the copy is dropped, and the next reader gets it from the slow store. Small blobs are verified before any byte is sent.","type":"object","properties":{"fast":{"description":"The quick store in front, which may lose entries.","$ref":"https://remexec.invalid/schema/store.json"},"slow":{"description":"The authoritative store; `noop` for none.","$ref":"https://remexec.invalid/schema/store.json"},"fast_direction":{"description":"Content written to the fast store: `both` uploads and fills from reads, `update` uploads only, `get` fills from reads only, `read_only` nothing.","type":"string","enum":["both","update","get","read_only"],"default":"both"},"slow_direction":{"description":"Content written to the slow store: `both` uploads and fills from reads, `update` uploads only, `get` fills from reads only, `read_only` nothing.","type":"string","enum":["both","update","get","read_only"],"default":"both"},"action_result_max_age_s":{"description":"How long an action result in the fast store is served without asking the slow store again. Set this where several servers share the slow store: a result that another server replaced or removed there is noticed after this time at the latest. While the slow store fails, the fast one is served. 0 never asks again, which is right where the slow store belongs to this server alone. Blobs of a CAS never change and need no time.","type":["integer","string"],"x-value":"duration","minimum":0,"default":0},"when_slow_is_away":{"description":"What happens while the slow store does not work (refuses connections, times out, rejects credentials). `fail`: lookups, reads and uploads fail with UNAVAILABLE. `serve_fast`: the fast store answers alone. FindMissing reports as missing what fast lacks, so that clients upload it again; reads, action results and inputs of actions that fast lacks are absent (NOT_FOUND), so that clients build or upload them again. Uploads still wait for the slow store unless `acknowledge` is `fast`. The risk: a blob that the slow store lost counts as present until it works again, and what only the slow store has is built again. Health is a Warning meanwhile, so the server stays in service; write the slow store here and not as a `ref_store`, whose own health would still count.","type":"string","enum":["fail","serve_fast"],"default":"fail"},"acknowledge":{"description":"Which store must have an upload before it is acknowledged. `slow`: the slow one, so that an acknowledged blob is in both. `fast`: the fast one, which must be a `filesystem`; the upload to the slow store follows behind the answer, from a queue in the folder of the fast store that survives kill -9 and is worked off at the next start (`upload_queue`). Action results reach the slow store after the blobs that were uploaded here before them. The risk: until then the only copy is on this machine, and other servers over the same slow store do not see it; who loses the disk loses what waits. So keep the clients of one build on one server, and take it only with `when_slow_is_away: \"serve_fast\"`. If it is set back to `slow`, the rest of the queue is still uploaded.","type":"string","enum":["slow","fast"],"default":"slow"},"upload_queue":{"description":"Bounds of the uploads that wait behind `acknowledge: \"fast\"`. At a bound an upload waits for the slow store as without that option; if the slow store is away then, it fails with RESOURCE_EXHAUSTED.","$ref":"https://remexec.invalid/schema/shared/upload_queue.json","default":{}},"bypass_dedup_threshold_bytes":{"description":"Blobs of at least this size are read directly from the slow store and do not fill the fast one; 0 turns this off.","type":["integer","string"],"x-value":"size","default":0}},"additionalProperties":false,"required":["fast","slow"]};
const wrapper0 = {validate: validate53};
const schema25 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/shared/upload_queue.json","title":"UploadQueue","description":"Bounds of the uploads that wait for a slow store.","type":"object","properties":{"max_bytes":{"description":"Bytes that may wait. They are held in the fast store, which evicts none of them. 0 takes half of the `max_bytes` of the fast store, and 10 GiB if that has no limit.","type":["integer","string"],"x-value":"size","minimum":0,"default":0},"max_count":{"description":"Blobs that may wait; each takes about 500 bytes of memory.","type":["integer","string"],"x-value":"count","minimum":1,"default":100000},"max_concurrent":{"description":"Uploads to the slow store at a time.","type":["integer","string"],"x-value":"count","minimum":1,"maximum":256,"default":16}},"additionalProperties":false};

function validate62(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/shared/upload_queue.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate62.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!(((key0 === "max_bytes") || (key0 === "max_count")) || (key0 === "max_concurrent"))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema25,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.max_bytes !== undefined){
let data0 = data.max_bytes;
if((!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))) && (typeof data0 !== "string")){
const err1 = {instancePath:instancePath+"/max_bytes",schemaPath:"#/properties/max_bytes/type",keyword:"type",params:{type: schema25.properties.max_bytes.type},message:"must be integer,string",schema:schema25.properties.max_bytes.type,parentSchema:schema25.properties.max_bytes,data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
const reason0 = checkScalar.call(this, "size", data0, schema25.properties.max_bytes, instancePath+"/max_bytes");
if(reason0 !== undefined){
const err2 = {instancePath:instancePath+"/max_bytes",schemaPath:"#/properties/max_bytes/x-value",keyword:"x-value",params:{},message:reason0,schema:"size",parentSchema:schema25.properties.max_bytes,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 < 0 || isNaN(data0)){
const err3 = {instancePath:instancePath+"/max_bytes",schemaPath:"#/properties/max_bytes/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema25.properties.max_bytes,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
}
if(data.max_count !== undefined){
let data1 = data.max_count;
if((!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))) && (typeof data1 !== "string")){
const err4 = {instancePath:instancePath+"/max_count",schemaPath:"#/properties/max_count/type",keyword:"type",params:{type: schema25.properties.max_count.type},message:"must be integer,string",schema:schema25.properties.max_count.type,parentSchema:schema25.properties.max_count,data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
const reason1 = checkScalar.call(this, "count", data1, schema25.properties.max_count, instancePath+"/max_count");
if(reason1 !== undefined){
const err5 = {instancePath:instancePath+"/max_count",schemaPath:"#/properties/max_count/x-value",keyword:"x-value",params:{},message:reason1,schema:"count",parentSchema:schema25.properties.max_count,data:data1};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if((typeof data1 == "number") && (isFinite(data1))){
if(data1 < 1 || isNaN(data1)){
const err6 = {instancePath:instancePath+"/max_count",schemaPath:"#/properties/max_count/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema25.properties.max_count,data:data1};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
}
if(data.max_concurrent !== undefined){
let data2 = data.max_concurrent;
if((!(((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2))) && (isFinite(data2)))) && (typeof data2 !== "string")){
const err7 = {instancePath:instancePath+"/max_concurrent",schemaPath:"#/properties/max_concurrent/type",keyword:"type",params:{type: schema25.properties.max_concurrent.type},message:"must be integer,string",schema:schema25.properties.max_concurrent.type,parentSchema:schema25.properties.max_concurrent,data:data2};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
const reason2 = checkScalar.call(this, "count", data2, schema25.properties.max_concurrent, instancePath+"/max_concurrent");
if(reason2 !== undefined){
const err8 = {instancePath:instancePath+"/max_concurrent",schemaPath:"#/properties/max_concurrent/x-value",keyword:"x-value",params:{},message:reason2,schema:"count",parentSchema:schema25.properties.max_concurrent,data:data2};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
if((typeof data2 == "number") && (isFinite(data2))){
if(data2 > 256 || isNaN(data2)){
const err9 = {instancePath:instancePath+"/max_concurrent",schemaPath:"#/properties/max_concurrent/maximum",keyword:"maximum",params:{comparison: "<=", limit: 256},message:"must be <= 256",schema:256,parentSchema:schema25.properties.max_concurrent,data:data2};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
if(data2 < 1 || isNaN(data2)){
const err10 = {instancePath:instancePath+"/max_concurrent",schemaPath:"#/properties/max_concurrent/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema25.properties.max_concurrent,data:data2};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
}
}
else {
const err11 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema25.type,parentSchema:schema25,data};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
validate62.errors = vErrors;
return errors === 0;
}
validate62.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};


function validate61(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/store/fast_slow.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate61.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.fast === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "fast"},message:"must have required property '"+"fast"+"'",schema:schema24.required,parentSchema:schema24,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.slow === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "slow"},message:"must have required property '"+"slow"+"'",schema:schema24.required,parentSchema:schema24,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
for(const key0 in data){
if(!(func1.call(schema24.properties, key0))){
const err2 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema24,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.fast !== undefined){
if(!(wrapper0.validate.call(this, data.fast, {instancePath:instancePath+"/fast",parentData:data,parentDataProperty:"fast",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, wrapper0.validate.errors);
errors = vErrors.length;
}
}
if(data.slow !== undefined){
if(!(wrapper0.validate.call(this, data.slow, {instancePath:instancePath+"/slow",parentData:data,parentDataProperty:"slow",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, wrapper0.validate.errors);
errors = vErrors.length;
}
}
if(data.fast_direction !== undefined){
let data2 = data.fast_direction;
if(typeof data2 !== "string"){
const err3 = {instancePath:instancePath+"/fast_direction",schemaPath:"#/properties/fast_direction/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema24.properties.fast_direction.type,parentSchema:schema24.properties.fast_direction,data:data2};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(!((((data2 === "both") || (data2 === "update")) || (data2 === "get")) || (data2 === "read_only"))){
const err4 = {instancePath:instancePath+"/fast_direction",schemaPath:"#/properties/fast_direction/enum",keyword:"enum",params:{allowedValues: schema24.properties.fast_direction.enum},message:"must be equal to one of the allowed values",schema:schema24.properties.fast_direction.enum,parentSchema:schema24.properties.fast_direction,data:data2};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.slow_direction !== undefined){
let data3 = data.slow_direction;
if(typeof data3 !== "string"){
const err5 = {instancePath:instancePath+"/slow_direction",schemaPath:"#/properties/slow_direction/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema24.properties.slow_direction.type,parentSchema:schema24.properties.slow_direction,data:data3};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if(!((((data3 === "both") || (data3 === "update")) || (data3 === "get")) || (data3 === "read_only"))){
const err6 = {instancePath:instancePath+"/slow_direction",schemaPath:"#/properties/slow_direction/enum",keyword:"enum",params:{allowedValues: schema24.properties.slow_direction.enum},message:"must be equal to one of the allowed values",schema:schema24.properties.slow_direction.enum,parentSchema:schema24.properties.slow_direction,data:data3};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data.action_result_max_age_s !== undefined){
let data4 = data.action_result_max_age_s;
if((!(((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4))) && (isFinite(data4)))) && (typeof data4 !== "string")){
const err7 = {instancePath:instancePath+"/action_result_max_age_s",schemaPath:"#/properties/action_result_max_age_s/type",keyword:"type",params:{type: schema24.properties.action_result_max_age_s.type},message:"must be integer,string",schema:schema24.properties.action_result_max_age_s.type,parentSchema:schema24.properties.action_result_max_age_s,data:data4};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
const reason0 = checkScalar.call(this, "duration", data4, schema24.properties.action_result_max_age_s, instancePath+"/action_result_max_age_s");
if(reason0 !== undefined){
const err8 = {instancePath:instancePath+"/action_result_max_age_s",schemaPath:"#/properties/action_result_max_age_s/x-value",keyword:"x-value",params:{},message:reason0,schema:"duration",parentSchema:schema24.properties.action_result_max_age_s,data:data4};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
if((typeof data4 == "number") && (isFinite(data4))){
if(data4 < 0 || isNaN(data4)){
const err9 = {instancePath:instancePath+"/action_result_max_age_s",schemaPath:"#/properties/action_result_max_age_s/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema24.properties.action_result_max_age_s,data:data4};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
}
if(data.when_slow_is_away !== undefined){
let data5 = data.when_slow_is_away;
if(typeof data5 !== "string"){
const err10 = {instancePath:instancePath+"/when_slow_is_away",schemaPath:"#/properties/when_slow_is_away/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema24.properties.when_slow_is_away.type,parentSchema:schema24.properties.when_slow_is_away,data:data5};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
if(!((data5 === "fail") || (data5 === "serve_fast"))){
const err11 = {instancePath:instancePath+"/when_slow_is_away",schemaPath:"#/properties/when_slow_is_away/enum",keyword:"enum",params:{allowedValues: schema24.properties.when_slow_is_away.enum},message:"must be equal to one of the allowed values",schema:schema24.properties.when_slow_is_away.enum,parentSchema:schema24.properties.when_slow_is_away,data:data5};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
if(data.acknowledge !== undefined){
let data6 = data.acknowledge;
if(typeof data6 !== "string"){
const err12 = {instancePath:instancePath+"/acknowledge",schemaPath:"#/properties/acknowledge/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema24.properties.acknowledge.type,parentSchema:schema24.properties.acknowledge,data:data6};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
if(!((data6 === "slow") || (data6 === "fast"))){
const err13 = {instancePath:instancePath+"/acknowledge",schemaPath:"#/properties/acknowledge/enum",keyword:"enum",params:{allowedValues: schema24.properties.acknowledge.enum},message:"must be equal to one of the allowed values",schema:schema24.properties.acknowledge.enum,parentSchema:schema24.properties.acknowledge,data:data6};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
}
if(data.upload_queue !== undefined){
if(!(validate62.call(this, data.upload_queue, {instancePath:instancePath+"/upload_queue",parentData:data,parentDataProperty:"upload_queue",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate62.errors);
errors = vErrors.length;
}
}
if(data.bypass_dedup_threshold_bytes !== undefined){
let data8 = data.bypass_dedup_threshold_bytes;
if((!(((typeof data8 == "number") && (!(data8 % 1) && !isNaN(data8))) && (isFinite(data8)))) && (typeof data8 !== "string")){
const err14 = {instancePath:instancePath+"/bypass_dedup_threshold_bytes",schemaPath:"#/properties/bypass_dedup_threshold_bytes/type",keyword:"type",params:{type: schema24.properties.bypass_dedup_threshold_bytes.type},message:"must be integer,string",schema:schema24.properties.bypass_dedup_threshold_bytes.type,parentSchema:schema24.properties.bypass_dedup_threshold_bytes,data:data8};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
const reason1 = checkScalar.call(this, "size", data8, schema24.properties.bypass_dedup_threshold_bytes, instancePath+"/bypass_dedup_threshold_bytes");
if(reason1 !== undefined){
const err15 = {instancePath:instancePath+"/bypass_dedup_threshold_bytes",schemaPath:"#/properties/bypass_dedup_threshold_bytes/x-value",keyword:"x-value",params:{},message:reason1,schema:"size",parentSchema:schema24.properties.bypass_dedup_threshold_bytes,data:data8};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
}
else {
const err16 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema24.type,parentSchema:schema24,data};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
validate61.errors = vErrors;
return errors === 0;
}
validate61.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema26 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/store/compression.json","title":"compression","description":"Compresses blobs on the way into its backend. Costs CPU, saves disk or network; other tools cannot read the stored form. Blobs written with one algorithm stay readable when the configuration names another.","type":"object","properties":{"backend":{"description":"Where the compressed blobs are kept.","$ref":"https://remexec.invalid/schema/store.json"},"compression_algorithm":{"title":"CompressionAlgorithm","description":"The algorithm and its settings, as an object with exactly one key.","type":"object","properties":{"lz4":{"$ref":"https://remexec.invalid/schema/store/compression.json#/$defs/lz4"},"zstd":{"$ref":"https://remexec.invalid/schema/store/compression.json#/$defs/zstd"}},"additionalProperties":false,"minProperties":1,"maxProperties":1}},"additionalProperties":false,"required":["backend","compression_algorithm"],"$defs":{"lz4":{"title":"Lz4","description":"LZ4 in independent blocks, so that a range is read without decoding what precedes it.","type":"object","properties":{"block_size":{"description":"Uncompressed bytes in a block.","type":["integer","string"],"x-value":"size","default":65536,"x-zero-is-default":true,"maximum":4194304},"max_decode_block_size":{"description":"Largest block accepted when reading; 0 means `block_size`. Raise it when blobs were written with larger blocks.","type":["integer","string"],"x-value":"size","default":0,"maximum":4194304}},"additionalProperties":false},"zstd":{"title":"Zstd","description":"Zstandard in independent frames. A client that reads or uploads zstd (`compressed-blobs/zstd`) exchanges the stored bytes, so nothing is compressed twice. This also works through `verify`, and through `fast_slow` if the slow store compresses this way, or the fast one over `noop`.","type":"object","properties":{"block_size":{"description":"Uncompressed bytes in a frame: a range of a blob is read without decoding the frames before it.","type":["integer","string"],"x-value":"size","default":262144,"x-zero-is-default":true,"maximum":4194304},"level":{"description":"Compression level, from 1 (quickest) to 19.","type":["integer","string"],"x-value":"count","minimum":1,"maximum":19,"default":1},"max_uploaded_frame_size":{"description":"Largest frame of a compressed upload, in uncompressed bytes, that is stored as the client made it. This saves compressing the blob again, but reading a range then decodes up to this many bytes before it. 0 always compresses again, in frames of `block_size`.","type":["integer","string"],"x-value":"size","default":67108864}},"additionalProperties":false}}};
const schema27 = {"title":"Lz4","description":"LZ4 in independent blocks, so that a range is read without decoding what precedes it.","type":"object","properties":{"block_size":{"description":"Uncompressed bytes in a block.","type":["integer","string"],"x-value":"size","default":65536,"x-zero-is-default":true,"maximum":4194304},"max_decode_block_size":{"description":"Largest block accepted when reading; 0 means `block_size`. Raise it when blobs were written with larger blocks.","type":["integer","string"],"x-value":"size","default":0,"maximum":4194304}},"additionalProperties":false};

function validate66(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate66.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!((key0 === "block_size") || (key0 === "max_decode_block_size"))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema27,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.block_size !== undefined){
let data0 = data.block_size;
if((!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))) && (typeof data0 !== "string")){
const err1 = {instancePath:instancePath+"/block_size",schemaPath:"#/properties/block_size/type",keyword:"type",params:{type: schema27.properties.block_size.type},message:"must be integer,string",schema:schema27.properties.block_size.type,parentSchema:schema27.properties.block_size,data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
const reason0 = checkScalar.call(this, "size", data0, schema27.properties.block_size, instancePath+"/block_size");
if(reason0 !== undefined){
const err2 = {instancePath:instancePath+"/block_size",schemaPath:"#/properties/block_size/x-value",keyword:"x-value",params:{},message:reason0,schema:"size",parentSchema:schema27.properties.block_size,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 > 4194304 || isNaN(data0)){
const err3 = {instancePath:instancePath+"/block_size",schemaPath:"#/properties/block_size/maximum",keyword:"maximum",params:{comparison: "<=", limit: 4194304},message:"must be <= 4194304",schema:4194304,parentSchema:schema27.properties.block_size,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
}
if(data.max_decode_block_size !== undefined){
let data1 = data.max_decode_block_size;
if((!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))) && (typeof data1 !== "string")){
const err4 = {instancePath:instancePath+"/max_decode_block_size",schemaPath:"#/properties/max_decode_block_size/type",keyword:"type",params:{type: schema27.properties.max_decode_block_size.type},message:"must be integer,string",schema:schema27.properties.max_decode_block_size.type,parentSchema:schema27.properties.max_decode_block_size,data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
const reason1 = checkScalar.call(this, "size", data1, schema27.properties.max_decode_block_size, instancePath+"/max_decode_block_size");
if(reason1 !== undefined){
const err5 = {instancePath:instancePath+"/max_decode_block_size",schemaPath:"#/properties/max_decode_block_size/x-value",keyword:"x-value",params:{},message:reason1,schema:"size",parentSchema:schema27.properties.max_decode_block_size,data:data1};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if((typeof data1 == "number") && (isFinite(data1))){
if(data1 > 4194304 || isNaN(data1)){
const err6 = {instancePath:instancePath+"/max_decode_block_size",schemaPath:"#/properties/max_decode_block_size/maximum",keyword:"maximum",params:{comparison: "<=", limit: 4194304},message:"must be <= 4194304",schema:4194304,parentSchema:schema27.properties.max_decode_block_size,data:data1};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
}
}
else {
const err7 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema27.type,parentSchema:schema27,data};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
validate66.errors = vErrors;
return errors === 0;
}
validate66.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema28 = {"title":"Zstd","description":"Zstandard in independent frames. A client that reads or uploads zstd (`compressed-blobs/zstd`) exchanges the stored bytes, so nothing is compressed twice. This also works through `verify`, and through `fast_slow` if the slow store compresses this way, or the fast one over `noop`.","type":"object","properties":{"block_size":{"description":"Uncompressed bytes in a frame: a range of a blob is read without decoding the frames before it.","type":["integer","string"],"x-value":"size","default":262144,"x-zero-is-default":true,"maximum":4194304},"level":{"description":"Compression level, from 1 (quickest) to 19.","type":["integer","string"],"x-value":"count","minimum":1,"maximum":19,"default":1},"max_uploaded_frame_size":{"description":"Largest frame of a compressed upload, in uncompressed bytes, that is stored as the client made it. This saves compressing the blob again, but reading a range then decodes up to this many bytes before it. 0 always compresses again, in frames of `block_size`.","type":["integer","string"],"x-value":"size","default":67108864}},"additionalProperties":false};

function validate68(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate68.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!(((key0 === "block_size") || (key0 === "level")) || (key0 === "max_uploaded_frame_size"))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema28,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.block_size !== undefined){
let data0 = data.block_size;
if((!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))) && (typeof data0 !== "string")){
const err1 = {instancePath:instancePath+"/block_size",schemaPath:"#/properties/block_size/type",keyword:"type",params:{type: schema28.properties.block_size.type},message:"must be integer,string",schema:schema28.properties.block_size.type,parentSchema:schema28.properties.block_size,data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
const reason0 = checkScalar.call(this, "size", data0, schema28.properties.block_size, instancePath+"/block_size");
if(reason0 !== undefined){
const err2 = {instancePath:instancePath+"/block_size",schemaPath:"#/properties/block_size/x-value",keyword:"x-value",params:{},message:reason0,schema:"size",parentSchema:schema28.properties.block_size,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 > 4194304 || isNaN(data0)){
const err3 = {instancePath:instancePath+"/block_size",schemaPath:"#/properties/block_size/maximum",keyword:"maximum",params:{comparison: "<=", limit: 4194304},message:"must be <= 4194304",schema:4194304,parentSchema:schema28.properties.block_size,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
}
if(data.level !== undefined){
let data1 = data.level;
if((!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))) && (typeof data1 !== "string")){
const err4 = {instancePath:instancePath+"/level",schemaPath:"#/properties/level/type",keyword:"type",params:{type: schema28.properties.level.type},message:"must be integer,string",schema:schema28.properties.level.type,parentSchema:schema28.properties.level,data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
const reason1 = checkScalar.call(this, "count", data1, schema28.properties.level, instancePath+"/level");
if(reason1 !== undefined){
const err5 = {instancePath:instancePath+"/level",schemaPath:"#/properties/level/x-value",keyword:"x-value",params:{},message:reason1,schema:"count",parentSchema:schema28.properties.level,data:data1};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if((typeof data1 == "number") && (isFinite(data1))){
if(data1 > 19 || isNaN(data1)){
const err6 = {instancePath:instancePath+"/level",schemaPath:"#/properties/level/maximum",keyword:"maximum",params:{comparison: "<=", limit: 19},message:"must be <= 19",schema:19,parentSchema:schema28.properties.level,data:data1};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if(data1 < 1 || isNaN(data1)){
const err7 = {instancePath:instancePath+"/level",schemaPath:"#/properties/level/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema28.properties.level,data:data1};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
}
if(data.max_uploaded_frame_size !== undefined){
let data2 = data.max_uploaded_frame_size;
if((!(((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2))) && (isFinite(data2)))) && (typeof data2 !== "string")){
const err8 = {instancePath:instancePath+"/max_uploaded_frame_size",schemaPath:"#/properties/max_uploaded_frame_size/type",keyword:"type",params:{type: schema28.properties.max_uploaded_frame_size.type},message:"must be integer,string",schema:schema28.properties.max_uploaded_frame_size.type,parentSchema:schema28.properties.max_uploaded_frame_size,data:data2};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
const reason2 = checkScalar.call(this, "size", data2, schema28.properties.max_uploaded_frame_size, instancePath+"/max_uploaded_frame_size");
if(reason2 !== undefined){
const err9 = {instancePath:instancePath+"/max_uploaded_frame_size",schemaPath:"#/properties/max_uploaded_frame_size/x-value",keyword:"x-value",params:{},message:reason2,schema:"size",parentSchema:schema28.properties.max_uploaded_frame_size,data:data2};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
}
else {
const err10 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema28.type,parentSchema:schema28,data};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
validate68.errors = vErrors;
return errors === 0;
}
validate68.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};


function validate65(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/store/compression.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate65.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.backend === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "backend"},message:"must have required property '"+"backend"+"'",schema:schema26.required,parentSchema:schema26,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.compression_algorithm === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "compression_algorithm"},message:"must have required property '"+"compression_algorithm"+"'",schema:schema26.required,parentSchema:schema26,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
for(const key0 in data){
if(!((key0 === "backend") || (key0 === "compression_algorithm"))){
const err2 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema26,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.backend !== undefined){
if(!(wrapper0.validate.call(this, data.backend, {instancePath:instancePath+"/backend",parentData:data,parentDataProperty:"backend",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, wrapper0.validate.errors);
errors = vErrors.length;
}
}
if(data.compression_algorithm !== undefined){
let data1 = data.compression_algorithm;
if(data1 && typeof data1 == "object" && !Array.isArray(data1)){
if(Object.keys(data1).length > 1){
const err3 = {instancePath:instancePath+"/compression_algorithm",schemaPath:"#/properties/compression_algorithm/maxProperties",keyword:"maxProperties",params:{limit: 1},message:"must NOT have more than 1 properties",schema:1,parentSchema:schema26.properties.compression_algorithm,data:data1};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(Object.keys(data1).length < 1){
const err4 = {instancePath:instancePath+"/compression_algorithm",schemaPath:"#/properties/compression_algorithm/minProperties",keyword:"minProperties",params:{limit: 1},message:"must NOT have fewer than 1 properties",schema:1,parentSchema:schema26.properties.compression_algorithm,data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
for(const key1 in data1){
if(!((key1 === "lz4") || (key1 === "zstd"))){
const err5 = {instancePath:instancePath+"/compression_algorithm",schemaPath:"#/properties/compression_algorithm/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key1},message:"must NOT have additional properties",schema:false,parentSchema:schema26.properties.compression_algorithm,data:data1};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data1.lz4 !== undefined){
if(!(validate66.call(this, data1.lz4, {instancePath:instancePath+"/compression_algorithm/lz4",parentData:data1,parentDataProperty:"lz4",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate66.errors);
errors = vErrors.length;
}
}
if(data1.zstd !== undefined){
if(!(validate68.call(this, data1.zstd, {instancePath:instancePath+"/compression_algorithm/zstd",parentData:data1,parentDataProperty:"zstd",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate68.errors);
errors = vErrors.length;
}
}
}
else {
const err6 = {instancePath:instancePath+"/compression_algorithm",schemaPath:"#/properties/compression_algorithm/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema26.properties.compression_algorithm.type,parentSchema:schema26.properties.compression_algorithm,data:data1};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
}
else {
const err7 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema26.type,parentSchema:schema26,data};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
validate65.errors = vErrors;
return errors === 0;
}
validate65.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema29 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/store/dedup.json","title":"dedup","description":"Cuts blobs into content-defined chunks (FastCDC), so that common parts of similar blobs are stored once. A blob exists while all its chunks do. For large blobs that change little by little. A blob that is no larger than the largest chunk is one entry of `content_store`. With `chunking_function` it is cut as REAPI clients do, and SplitBlob and SpliceBlob of its instances use its lists and chunks as they are, without `experimental_chunking`. Instances with `isolate` have chunks of their own.","type":"object","properties":{"index_store":{"description":"Keeps the chunk list of each blob, under the digest of the blob. It must differ from `content_store`.","$ref":"https://remexec.invalid/schema/store.json"},"content_store":{"description":"Keeps the chunks, under their own digests.","$ref":"https://remexec.invalid/schema/store.json"},"whole_store":{"description":"Keeps copies of larger blobs as files while actions use them, within its `eviction_policy`: a `filesystem` on the file system of `content_store`. Needed if this is the store of a worker, which links its inputs. Blobs that are no larger than a chunk are linked from `content_store`, which has to be a `filesystem` then.","$ref":"https://remexec.invalid/schema/store.json"},"chunking_function":{"description":"Cut blobs by one of REAPI's functions, with its sizes instead of `min_size`, `normal_size` and `max_size`: `fast_cdc_2020`, which all clients have that chunk at all, or `rep_max_cdc`, whose chunks differ less in size and which Bazel has from 9.3 on. After a change of function or sizes existing blobs stay readable; new blobs share fewer chunks with them.","type":"string","enum":["fast_cdc_2020","rep_max_cdc"]},"avg_chunk_size_bytes":{"description":"Target chunk size of `fast_cdc_2020`, from 1 KiB to 1 MiB. Chunks have a quarter of it to four times as much.","type":["integer","string"],"x-value":"size","default":524288,"x-zero-is-default":true},"min_chunk_size_bytes":{"description":"Smallest chunk of `rep_max_cdc`, from 1 KiB to 1 MiB. Chunks have less than twice that.","type":["integer","string"],"x-value":"size","default":262144,"x-zero-is-default":true},"horizon_size_bytes":{"description":"How far `rep_max_cdc` looks for the best end of a chunk, at most 16 MiB. Default: eight times `min_chunk_size_bytes`.","type":["integer","string"],"x-value":"size","minimum":0,"maximum":16777216},"min_size":{"description":"Smallest chunk, except the last of a blob; at least 64 bytes, and at most `normal_size`.","type":["integer","string"],"x-value":"size","default":65536,"x-zero-is-default":true},"normal_size":{"description":"Target chunk size, from 256 bytes to 8 MiB. After a change of sizes existing blobs stay readable; new blobs share fewer chunks with them.","type":["integer","string"],"x-value":"size","default":262144,"x-zero-is-default":true},"max_size":{"description":"Largest chunk; at least `normal_size`, and at most 32 MiB. Each is held in memory as a whole.","type":["integer","string"],"x-value":"size","default":524288,"x-zero-is-default":true},"max_concurrent_fetch_per_get":{"description":"Chunks opened ahead while a blob is read, with at most 4 MiB together. More than 2 helps if `content_store` is on another machine.","type":["integer","string"],"x-value":"count","minimum":0,"default":2,"x-zero-is-default":true}},"additionalProperties":false,"required":["index_store","content_store"]};

function validate71(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/store/dedup.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate71.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.index_store === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "index_store"},message:"must have required property '"+"index_store"+"'",schema:schema29.required,parentSchema:schema29,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.content_store === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "content_store"},message:"must have required property '"+"content_store"+"'",schema:schema29.required,parentSchema:schema29,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
for(const key0 in data){
if(!(func1.call(schema29.properties, key0))){
const err2 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema29,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.index_store !== undefined){
if(!(wrapper0.validate.call(this, data.index_store, {instancePath:instancePath+"/index_store",parentData:data,parentDataProperty:"index_store",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, wrapper0.validate.errors);
errors = vErrors.length;
}
}
if(data.content_store !== undefined){
if(!(wrapper0.validate.call(this, data.content_store, {instancePath:instancePath+"/content_store",parentData:data,parentDataProperty:"content_store",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, wrapper0.validate.errors);
errors = vErrors.length;
}
}
if(data.whole_store !== undefined){
if(!(wrapper0.validate.call(this, data.whole_store, {instancePath:instancePath+"/whole_store",parentData:data,parentDataProperty:"whole_store",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, wrapper0.validate.errors);
errors = vErrors.length;
}
}
if(data.chunking_function !== undefined){
let data3 = data.chunking_function;
if(typeof data3 !== "string"){
const err3 = {instancePath:instancePath+"/chunking_function",schemaPath:"#/properties/chunking_function/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema29.properties.chunking_function.type,parentSchema:schema29.properties.chunking_function,data:data3};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(!((data3 === "fast_cdc_2020") || (data3 === "rep_max_cdc"))){
const err4 = {instancePath:instancePath+"/chunking_function",schemaPath:"#/properties/chunking_function/enum",keyword:"enum",params:{allowedValues: schema29.properties.chunking_function.enum},message:"must be equal to one of the allowed values",schema:schema29.properties.chunking_function.enum,parentSchema:schema29.properties.chunking_function,data:data3};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.avg_chunk_size_bytes !== undefined){
let data4 = data.avg_chunk_size_bytes;
if((!(((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4))) && (isFinite(data4)))) && (typeof data4 !== "string")){
const err5 = {instancePath:instancePath+"/avg_chunk_size_bytes",schemaPath:"#/properties/avg_chunk_size_bytes/type",keyword:"type",params:{type: schema29.properties.avg_chunk_size_bytes.type},message:"must be integer,string",schema:schema29.properties.avg_chunk_size_bytes.type,parentSchema:schema29.properties.avg_chunk_size_bytes,data:data4};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
const reason0 = checkScalar.call(this, "size", data4, schema29.properties.avg_chunk_size_bytes, instancePath+"/avg_chunk_size_bytes");
if(reason0 !== undefined){
const err6 = {instancePath:instancePath+"/avg_chunk_size_bytes",schemaPath:"#/properties/avg_chunk_size_bytes/x-value",keyword:"x-value",params:{},message:reason0,schema:"size",parentSchema:schema29.properties.avg_chunk_size_bytes,data:data4};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data.min_chunk_size_bytes !== undefined){
let data5 = data.min_chunk_size_bytes;
if((!(((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5))) && (isFinite(data5)))) && (typeof data5 !== "string")){
const err7 = {instancePath:instancePath+"/min_chunk_size_bytes",schemaPath:"#/properties/min_chunk_size_bytes/type",keyword:"type",params:{type: schema29.properties.min_chunk_size_bytes.type},message:"must be integer,string",schema:schema29.properties.min_chunk_size_bytes.type,parentSchema:schema29.properties.min_chunk_size_bytes,data:data5};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
const reason1 = checkScalar.call(this, "size", data5, schema29.properties.min_chunk_size_bytes, instancePath+"/min_chunk_size_bytes");
if(reason1 !== undefined){
const err8 = {instancePath:instancePath+"/min_chunk_size_bytes",schemaPath:"#/properties/min_chunk_size_bytes/x-value",keyword:"x-value",params:{},message:reason1,schema:"size",parentSchema:schema29.properties.min_chunk_size_bytes,data:data5};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
if(data.horizon_size_bytes !== undefined){
let data6 = data.horizon_size_bytes;
if((!(((typeof data6 == "number") && (!(data6 % 1) && !isNaN(data6))) && (isFinite(data6)))) && (typeof data6 !== "string")){
const err9 = {instancePath:instancePath+"/horizon_size_bytes",schemaPath:"#/properties/horizon_size_bytes/type",keyword:"type",params:{type: schema29.properties.horizon_size_bytes.type},message:"must be integer,string",schema:schema29.properties.horizon_size_bytes.type,parentSchema:schema29.properties.horizon_size_bytes,data:data6};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
const reason2 = checkScalar.call(this, "size", data6, schema29.properties.horizon_size_bytes, instancePath+"/horizon_size_bytes");
if(reason2 !== undefined){
const err10 = {instancePath:instancePath+"/horizon_size_bytes",schemaPath:"#/properties/horizon_size_bytes/x-value",keyword:"x-value",params:{},message:reason2,schema:"size",parentSchema:schema29.properties.horizon_size_bytes,data:data6};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
if((typeof data6 == "number") && (isFinite(data6))){
if(data6 > 16777216 || isNaN(data6)){
const err11 = {instancePath:instancePath+"/horizon_size_bytes",schemaPath:"#/properties/horizon_size_bytes/maximum",keyword:"maximum",params:{comparison: "<=", limit: 16777216},message:"must be <= 16777216",schema:16777216,parentSchema:schema29.properties.horizon_size_bytes,data:data6};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
if(data6 < 0 || isNaN(data6)){
const err12 = {instancePath:instancePath+"/horizon_size_bytes",schemaPath:"#/properties/horizon_size_bytes/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema29.properties.horizon_size_bytes,data:data6};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
}
if(data.min_size !== undefined){
let data7 = data.min_size;
if((!(((typeof data7 == "number") && (!(data7 % 1) && !isNaN(data7))) && (isFinite(data7)))) && (typeof data7 !== "string")){
const err13 = {instancePath:instancePath+"/min_size",schemaPath:"#/properties/min_size/type",keyword:"type",params:{type: schema29.properties.min_size.type},message:"must be integer,string",schema:schema29.properties.min_size.type,parentSchema:schema29.properties.min_size,data:data7};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
const reason3 = checkScalar.call(this, "size", data7, schema29.properties.min_size, instancePath+"/min_size");
if(reason3 !== undefined){
const err14 = {instancePath:instancePath+"/min_size",schemaPath:"#/properties/min_size/x-value",keyword:"x-value",params:{},message:reason3,schema:"size",parentSchema:schema29.properties.min_size,data:data7};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
if(data.normal_size !== undefined){
let data8 = data.normal_size;
if((!(((typeof data8 == "number") && (!(data8 % 1) && !isNaN(data8))) && (isFinite(data8)))) && (typeof data8 !== "string")){
const err15 = {instancePath:instancePath+"/normal_size",schemaPath:"#/properties/normal_size/type",keyword:"type",params:{type: schema29.properties.normal_size.type},message:"must be integer,string",schema:schema29.properties.normal_size.type,parentSchema:schema29.properties.normal_size,data:data8};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
const reason4 = checkScalar.call(this, "size", data8, schema29.properties.normal_size, instancePath+"/normal_size");
if(reason4 !== undefined){
const err16 = {instancePath:instancePath+"/normal_size",schemaPath:"#/properties/normal_size/x-value",keyword:"x-value",params:{},message:reason4,schema:"size",parentSchema:schema29.properties.normal_size,data:data8};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
}
if(data.max_size !== undefined){
let data9 = data.max_size;
if((!(((typeof data9 == "number") && (!(data9 % 1) && !isNaN(data9))) && (isFinite(data9)))) && (typeof data9 !== "string")){
const err17 = {instancePath:instancePath+"/max_size",schemaPath:"#/properties/max_size/type",keyword:"type",params:{type: schema29.properties.max_size.type},message:"must be integer,string",schema:schema29.properties.max_size.type,parentSchema:schema29.properties.max_size,data:data9};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
const reason5 = checkScalar.call(this, "size", data9, schema29.properties.max_size, instancePath+"/max_size");
if(reason5 !== undefined){
const err18 = {instancePath:instancePath+"/max_size",schemaPath:"#/properties/max_size/x-value",keyword:"x-value",params:{},message:reason5,schema:"size",parentSchema:schema29.properties.max_size,data:data9};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
}
if(data.max_concurrent_fetch_per_get !== undefined){
let data10 = data.max_concurrent_fetch_per_get;
if((!(((typeof data10 == "number") && (!(data10 % 1) && !isNaN(data10))) && (isFinite(data10)))) && (typeof data10 !== "string")){
const err19 = {instancePath:instancePath+"/max_concurrent_fetch_per_get",schemaPath:"#/properties/max_concurrent_fetch_per_get/type",keyword:"type",params:{type: schema29.properties.max_concurrent_fetch_per_get.type},message:"must be integer,string",schema:schema29.properties.max_concurrent_fetch_per_get.type,parentSchema:schema29.properties.max_concurrent_fetch_per_get,data:data10};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
const reason6 = checkScalar.call(this, "count", data10, schema29.properties.max_concurrent_fetch_per_get, instancePath+"/max_concurrent_fetch_per_get");
if(reason6 !== undefined){
const err20 = {instancePath:instancePath+"/max_concurrent_fetch_per_get",schemaPath:"#/properties/max_concurrent_fetch_per_get/x-value",keyword:"x-value",params:{},message:reason6,schema:"count",parentSchema:schema29.properties.max_concurrent_fetch_per_get,data:data10};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
if((typeof data10 == "number") && (isFinite(data10))){
if(data10 < 0 || isNaN(data10)){
const err21 = {instancePath:instancePath+"/max_concurrent_fetch_per_get",schemaPath:"#/properties/max_concurrent_fetch_per_get/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema29.properties.max_concurrent_fetch_per_get,data:data10};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
}
}
}
else {
const err22 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema29.type,parentSchema:schema29,data};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
validate71.errors = vErrors;
return errors === 0;
}
validate71.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema30 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/store/verify.json","title":"verify","description":"Checks blobs that are read from a backend against their digest, since the backend may be damaged. Uploads from clients are always checked, with or without this store.","type":"object","properties":{"backend":{"description":"The store whose blobs are checked.","$ref":"https://remexec.invalid/schema/store.json"},"verify_size":{"description":"Check the length.","type":["boolean","string"],"x-value":"bool","default":false},"verify_hash":{"description":"Check the hash.","type":["boolean","string"],"x-value":"bool","default":false},"hash_verification_function":{"description":"No longer used: the digest function comes with each request.","deprecated":true,"x-ignored":true}},"additionalProperties":false,"required":["backend"]};

function validate73(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/store/verify.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate73.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.backend === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "backend"},message:"must have required property '"+"backend"+"'",schema:schema30.required,parentSchema:schema30,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!((((key0 === "backend") || (key0 === "verify_size")) || (key0 === "verify_hash")) || (key0 === "hash_verification_function"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema30,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.backend !== undefined){
if(!(wrapper0.validate.call(this, data.backend, {instancePath:instancePath+"/backend",parentData:data,parentDataProperty:"backend",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, wrapper0.validate.errors);
errors = vErrors.length;
}
}
if(data.verify_size !== undefined){
let data1 = data.verify_size;
if((typeof data1 !== "boolean") && (typeof data1 !== "string")){
const err2 = {instancePath:instancePath+"/verify_size",schemaPath:"#/properties/verify_size/type",keyword:"type",params:{type: schema30.properties.verify_size.type},message:"must be boolean,string",schema:schema30.properties.verify_size.type,parentSchema:schema30.properties.verify_size,data:data1};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
const reason0 = checkScalar.call(this, "bool", data1, schema30.properties.verify_size, instancePath+"/verify_size");
if(reason0 !== undefined){
const err3 = {instancePath:instancePath+"/verify_size",schemaPath:"#/properties/verify_size/x-value",keyword:"x-value",params:{},message:reason0,schema:"bool",parentSchema:schema30.properties.verify_size,data:data1};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.verify_hash !== undefined){
let data2 = data.verify_hash;
if((typeof data2 !== "boolean") && (typeof data2 !== "string")){
const err4 = {instancePath:instancePath+"/verify_hash",schemaPath:"#/properties/verify_hash/type",keyword:"type",params:{type: schema30.properties.verify_hash.type},message:"must be boolean,string",schema:schema30.properties.verify_hash.type,parentSchema:schema30.properties.verify_hash,data:data2};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
const reason1 = checkScalar.call(this, "bool", data2, schema30.properties.verify_hash, instancePath+"/verify_hash");
if(reason1 !== undefined){
const err5 = {instancePath:instancePath+"/verify_hash",schemaPath:"#/properties/verify_hash/x-value",keyword:"x-value",params:{},message:reason1,schema:"bool",parentSchema:schema30.properties.verify_hash,data:data2};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
}
else {
const err6 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema30.type,parentSchema:schema30,data};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
validate73.errors = vErrors;
return errors === 0;
}
validate73.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema31 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/store/existence_cache.json","title":"existence_cache","description":"Remembers which blobs the backend has, and asks it only for the others. For a backend with slow lookups. A blob that turns out to be missing when it is read or removed through this store is forgotten at once.","type":"object","properties":{"backend":{"description":"The backend.","$ref":"https://remexec.invalid/schema/store.json"},"eviction_policy":{"title":"ExistencePolicy","description":"When the backend is asked again. The oldest answers are forgotten first.","type":"object","properties":{"max_bytes":{"description":"Most bytes that all remembered blobs may have together; 0 means no limit.","type":["integer","string"],"x-value":"size","default":0},"evict_bytes":{"description":"Above `max_bytes`, entries are forgotten until this many bytes below it.","type":["integer","string"],"x-value":"size","default":0},"max_seconds":{"description":"How long an answer of the backend is valid, counted from the answer, not from the last use. The cache does not see evictions of the backend or deletions by other processes. For this long it may report a blob that is gone. At most half the `retention` of the backend, if that has one.","type":["integer","string"],"x-value":"duration","default":300,"x-zero-is-default":true},"max_count":{"description":"Most blobs remembered, at about 80 bytes of memory each.","type":["integer","string"],"x-value":"count","minimum":0,"default":1000000,"x-zero-is-default":true}},"additionalProperties":false,"default":{}}},"additionalProperties":false,"required":["backend"]};

function validate75(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/store/existence_cache.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate75.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.backend === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "backend"},message:"must have required property '"+"backend"+"'",schema:schema31.required,parentSchema:schema31,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!((key0 === "backend") || (key0 === "eviction_policy"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema31,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.backend !== undefined){
if(!(wrapper0.validate.call(this, data.backend, {instancePath:instancePath+"/backend",parentData:data,parentDataProperty:"backend",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, wrapper0.validate.errors);
errors = vErrors.length;
}
}
if(data.eviction_policy !== undefined){
let data1 = data.eviction_policy;
if(data1 && typeof data1 == "object" && !Array.isArray(data1)){
for(const key1 in data1){
if(!((((key1 === "max_bytes") || (key1 === "evict_bytes")) || (key1 === "max_seconds")) || (key1 === "max_count"))){
const err2 = {instancePath:instancePath+"/eviction_policy",schemaPath:"#/properties/eviction_policy/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key1},message:"must NOT have additional properties",schema:false,parentSchema:schema31.properties.eviction_policy,data:data1};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data1.max_bytes !== undefined){
let data2 = data1.max_bytes;
if((!(((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2))) && (isFinite(data2)))) && (typeof data2 !== "string")){
const err3 = {instancePath:instancePath+"/eviction_policy/max_bytes",schemaPath:"#/properties/eviction_policy/properties/max_bytes/type",keyword:"type",params:{type: schema31.properties.eviction_policy.properties.max_bytes.type},message:"must be integer,string",schema:schema31.properties.eviction_policy.properties.max_bytes.type,parentSchema:schema31.properties.eviction_policy.properties.max_bytes,data:data2};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
const reason0 = checkScalar.call(this, "size", data2, schema31.properties.eviction_policy.properties.max_bytes, instancePath+"/eviction_policy/max_bytes");
if(reason0 !== undefined){
const err4 = {instancePath:instancePath+"/eviction_policy/max_bytes",schemaPath:"#/properties/eviction_policy/properties/max_bytes/x-value",keyword:"x-value",params:{},message:reason0,schema:"size",parentSchema:schema31.properties.eviction_policy.properties.max_bytes,data:data2};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data1.evict_bytes !== undefined){
let data3 = data1.evict_bytes;
if((!(((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3))) && (isFinite(data3)))) && (typeof data3 !== "string")){
const err5 = {instancePath:instancePath+"/eviction_policy/evict_bytes",schemaPath:"#/properties/eviction_policy/properties/evict_bytes/type",keyword:"type",params:{type: schema31.properties.eviction_policy.properties.evict_bytes.type},message:"must be integer,string",schema:schema31.properties.eviction_policy.properties.evict_bytes.type,parentSchema:schema31.properties.eviction_policy.properties.evict_bytes,data:data3};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
const reason1 = checkScalar.call(this, "size", data3, schema31.properties.eviction_policy.properties.evict_bytes, instancePath+"/eviction_policy/evict_bytes");
if(reason1 !== undefined){
const err6 = {instancePath:instancePath+"/eviction_policy/evict_bytes",schemaPath:"#/properties/eviction_policy/properties/evict_bytes/x-value",keyword:"x-value",params:{},message:reason1,schema:"size",parentSchema:schema31.properties.eviction_policy.properties.evict_bytes,data:data3};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data1.max_seconds !== undefined){
let data4 = data1.max_seconds;
if((!(((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4))) && (isFinite(data4)))) && (typeof data4 !== "string")){
const err7 = {instancePath:instancePath+"/eviction_policy/max_seconds",schemaPath:"#/properties/eviction_policy/properties/max_seconds/type",keyword:"type",params:{type: schema31.properties.eviction_policy.properties.max_seconds.type},message:"must be integer,string",schema:schema31.properties.eviction_policy.properties.max_seconds.type,parentSchema:schema31.properties.eviction_policy.properties.max_seconds,data:data4};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
const reason2 = checkScalar.call(this, "duration", data4, schema31.properties.eviction_policy.properties.max_seconds, instancePath+"/eviction_policy/max_seconds");
if(reason2 !== undefined){
const err8 = {instancePath:instancePath+"/eviction_policy/max_seconds",schemaPath:"#/properties/eviction_policy/properties/max_seconds/x-value",keyword:"x-value",params:{},message:reason2,schema:"duration",parentSchema:schema31.properties.eviction_policy.properties.max_seconds,data:data4};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
if(data1.max_count !== undefined){
let data5 = data1.max_count;
if((!(((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5))) && (isFinite(data5)))) && (typeof data5 !== "string")){
const err9 = {instancePath:instancePath+"/eviction_policy/max_count",schemaPath:"#/properties/eviction_policy/properties/max_count/type",keyword:"type",params:{type: schema31.properties.eviction_policy.properties.max_count.type},message:"must be integer,string",schema:schema31.properties.eviction_policy.properties.max_count.type,parentSchema:schema31.properties.eviction_policy.properties.max_count,data:data5};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
const reason3 = checkScalar.call(this, "count", data5, schema31.properties.eviction_policy.properties.max_count, instancePath+"/eviction_policy/max_count");
if(reason3 !== undefined){
const err10 = {instancePath:instancePath+"/eviction_policy/max_count",schemaPath:"#/properties/eviction_policy/properties/max_count/x-value",keyword:"x-value",params:{},message:reason3,schema:"count",parentSchema:schema31.properties.eviction_policy.properties.max_count,data:data5};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
if((typeof data5 == "number") && (isFinite(data5))){
if(data5 < 0 || isNaN(data5)){
const err11 = {instancePath:instancePath+"/eviction_policy/max_count",schemaPath:"#/properties/eviction_policy/properties/max_count/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema31.properties.eviction_policy.properties.max_count,data:data5};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
}
}
else {
const err12 = {instancePath:instancePath+"/eviction_policy",schemaPath:"#/properties/eviction_policy/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema31.properties.eviction_policy.type,parentSchema:schema31.properties.eviction_policy,data:data1};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
}
else {
const err13 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema31.type,parentSchema:schema31,data};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
validate75.errors = vErrors;
return errors === 0;
}
validate75.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema32 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/store/completeness_checking.json","title":"completeness_checking","description":"An action cache that returns a result only while all its outputs are in the CAS. The ActionCache service checks this itself, with the CAS of its instance, if its action cache is not of this kind. Configure it if stores of other instances or a worker read the same entries.","type":"object","properties":{"backend":{"description":"The action cache itself.","$ref":"https://remexec.invalid/schema/store.json"},"cas_store":{"description":"The CAS that must hold the outputs, as a rule a `ref_store`.","$ref":"https://remexec.invalid/schema/store.json"}},"additionalProperties":false,"required":["backend","cas_store"]};

function validate77(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/store/completeness_checking.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate77.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.backend === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "backend"},message:"must have required property '"+"backend"+"'",schema:schema32.required,parentSchema:schema32,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.cas_store === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "cas_store"},message:"must have required property '"+"cas_store"+"'",schema:schema32.required,parentSchema:schema32,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
for(const key0 in data){
if(!((key0 === "backend") || (key0 === "cas_store"))){
const err2 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema32,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.backend !== undefined){
if(!(wrapper0.validate.call(this, data.backend, {instancePath:instancePath+"/backend",parentData:data,parentDataProperty:"backend",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, wrapper0.validate.errors);
errors = vErrors.length;
}
}
if(data.cas_store !== undefined){
if(!(wrapper0.validate.call(this, data.cas_store, {instancePath:instancePath+"/cas_store",parentData:data,parentDataProperty:"cas_store",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, wrapper0.validate.errors);
errors = vErrors.length;
}
}
}
else {
const err3 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema32.type,parentSchema:schema32,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate77.errors = vErrors;
return errors === 0;
}
validate77.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema33 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/store/size_partitioning.json","title":"size_partitioning","description":"Sends small and large blobs to different stores.","type":"object","properties":{"size":{"description":"Blobs smaller than this go to `lower_store`, the others to `upper_store`.","type":["integer","string"],"x-value":"size","exclusiveMinimum":0},"lower_store":{"description":"For the small blobs.","$ref":"https://remexec.invalid/schema/store.json"},"upper_store":{"description":"For the large blobs.","$ref":"https://remexec.invalid/schema/store.json"}},"additionalProperties":false,"required":["size","lower_store","upper_store"]};

function validate79(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/store/size_partitioning.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate79.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.size === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "size"},message:"must have required property '"+"size"+"'",schema:schema33.required,parentSchema:schema33,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.lower_store === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "lower_store"},message:"must have required property '"+"lower_store"+"'",schema:schema33.required,parentSchema:schema33,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.upper_store === undefined){
const err2 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "upper_store"},message:"must have required property '"+"upper_store"+"'",schema:schema33.required,parentSchema:schema33,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
for(const key0 in data){
if(!(((key0 === "size") || (key0 === "lower_store")) || (key0 === "upper_store"))){
const err3 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema33,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.size !== undefined){
let data0 = data.size;
if((!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))) && (typeof data0 !== "string")){
const err4 = {instancePath:instancePath+"/size",schemaPath:"#/properties/size/type",keyword:"type",params:{type: schema33.properties.size.type},message:"must be integer,string",schema:schema33.properties.size.type,parentSchema:schema33.properties.size,data:data0};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
const reason0 = checkScalar.call(this, "size", data0, schema33.properties.size, instancePath+"/size");
if(reason0 !== undefined){
const err5 = {instancePath:instancePath+"/size",schemaPath:"#/properties/size/x-value",keyword:"x-value",params:{},message:reason0,schema:"size",parentSchema:schema33.properties.size,data:data0};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 <= 0 || isNaN(data0)){
const err6 = {instancePath:instancePath+"/size",schemaPath:"#/properties/size/exclusiveMinimum",keyword:"exclusiveMinimum",params:{comparison: ">", limit: 0},message:"must be > 0",schema:0,parentSchema:schema33.properties.size,data:data0};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
}
if(data.lower_store !== undefined){
if(!(wrapper0.validate.call(this, data.lower_store, {instancePath:instancePath+"/lower_store",parentData:data,parentDataProperty:"lower_store",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, wrapper0.validate.errors);
errors = vErrors.length;
}
}
if(data.upper_store !== undefined){
if(!(wrapper0.validate.call(this, data.upper_store, {instancePath:instancePath+"/upper_store",parentData:data,parentDataProperty:"upper_store",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, wrapper0.validate.errors);
errors = vErrors.length;
}
}
}
else {
const err7 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema33.type,parentSchema:schema33,data};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
validate79.errors = vErrors;
return errors === 0;
}
validate79.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema34 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/store/shard.json","title":"shard","description":"Spreads blobs over several stores by digest and weight. Append new stores to the list: a new store takes its share from the others, and nothing moves between those. A blob that moved is a miss once.","type":"object","properties":{"stores":{"description":"The stores and their shares.","type":"array","minItems":1,"items":{"$ref":"https://remexec.invalid/schema/store/shard.json#/$defs/part"}}},"additionalProperties":false,"required":["stores"],"$defs":{"part":{"title":"ShardPart","description":"One store of a shard.","type":"object","properties":{"store":{"description":"Where this share is kept.","$ref":"https://remexec.invalid/schema/store.json"},"weight":{"description":"Share relative to the other stores. 0 removes a store from use while the positions of the others stay.","type":["integer","string"],"x-value":"count","minimum":0,"default":1}},"additionalProperties":false,"required":["store"]}}};
const schema35 = {"title":"ShardPart","description":"One store of a shard.","type":"object","properties":{"store":{"description":"Where this share is kept.","$ref":"https://remexec.invalid/schema/store.json"},"weight":{"description":"Share relative to the other stores. 0 removes a store from use while the positions of the others stay.","type":["integer","string"],"x-value":"count","minimum":0,"default":1}},"additionalProperties":false,"required":["store"]};

function validate82(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate82.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.store === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "store"},message:"must have required property '"+"store"+"'",schema:schema35.required,parentSchema:schema35,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!((key0 === "store") || (key0 === "weight"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema35,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.store !== undefined){
if(!(wrapper0.validate.call(this, data.store, {instancePath:instancePath+"/store",parentData:data,parentDataProperty:"store",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, wrapper0.validate.errors);
errors = vErrors.length;
}
}
if(data.weight !== undefined){
let data1 = data.weight;
if((!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))) && (typeof data1 !== "string")){
const err2 = {instancePath:instancePath+"/weight",schemaPath:"#/properties/weight/type",keyword:"type",params:{type: schema35.properties.weight.type},message:"must be integer,string",schema:schema35.properties.weight.type,parentSchema:schema35.properties.weight,data:data1};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
const reason0 = checkScalar.call(this, "count", data1, schema35.properties.weight, instancePath+"/weight");
if(reason0 !== undefined){
const err3 = {instancePath:instancePath+"/weight",schemaPath:"#/properties/weight/x-value",keyword:"x-value",params:{},message:reason0,schema:"count",parentSchema:schema35.properties.weight,data:data1};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if((typeof data1 == "number") && (isFinite(data1))){
if(data1 < 0 || isNaN(data1)){
const err4 = {instancePath:instancePath+"/weight",schemaPath:"#/properties/weight/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema35.properties.weight,data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
}
}
else {
const err5 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema35.type,parentSchema:schema35,data};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
validate82.errors = vErrors;
return errors === 0;
}
validate82.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};


function validate81(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/store/shard.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate81.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.stores === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "stores"},message:"must have required property '"+"stores"+"'",schema:schema34.required,parentSchema:schema34,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(key0 === "stores")){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema34,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.stores !== undefined){
let data0 = data.stores;
if(Array.isArray(data0)){
if(data0.length < 1){
const err2 = {instancePath:instancePath+"/stores",schemaPath:"#/properties/stores/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema34.properties.stores,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
const len0 = data0.length;
for(let i0=0; i0<len0; i0++){
if(!(validate82.call(this, data0[i0], {instancePath:instancePath+"/stores/" + i0,parentData:data0,parentDataProperty:i0,rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate82.errors);
errors = vErrors.length;
}
}
}
else {
const err3 = {instancePath:instancePath+"/stores",schemaPath:"#/properties/stores/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema34.properties.stores.type,parentSchema:schema34.properties.stores,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
}
else {
const err4 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema34.type,parentSchema:schema34,data};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
validate81.errors = vErrors;
return errors === 0;
}
validate81.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema36 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/store/ref_store.json","title":"ref_store","description":"Refers to another named store, so that several places share one.","type":"object","properties":{"name":{"description":"The name of a store in `stores`; it may be defined further down.","type":"string","x-names":"stores"}},"additionalProperties":false,"required":["name"]};

function validate85(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/store/ref_store.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate85.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.name === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "name"},message:"must have required property '"+"name"+"'",schema:schema36.required,parentSchema:schema36,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(key0 === "name")){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema36,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.name !== undefined){
let data0 = data.name;
if(typeof data0 !== "string"){
const err2 = {instancePath:instancePath+"/name",schemaPath:"#/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema36.properties.name.type,parentSchema:schema36.properties.name,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
}
else {
const err3 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema36.type,parentSchema:schema36,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate85.errors = vErrors;
return errors === 0;
}
validate85.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema37 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/store/noop.json","title":"noop","description":"Keeps nothing: uploads are discarded, reads find nothing. The slow side of a `fast_slow` without a second tier.","type":"object","properties":{},"additionalProperties":false,"x-lenient":"always"};

function validate87(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/store/noop.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate87.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema37,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
else {
const err1 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema37.type,parentSchema:schema37,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate87.errors = vErrors;
return errors === 0;
}
validate87.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema38 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/store/grpc.json","title":"grpc","description":"Another Remote Execution API server as a store: its CAS or its action cache. Nothing can be removed there: a blob that `verify` finds damaged stays until that server finds the damage itself.","type":"object","properties":{"instance_name":{"description":"The instance name sent to it.","type":"string","default":""},"endpoints":{"description":"Its addresses. Calls use connections in turn, preferring those that are open.","type":"array","minItems":1,"items":{"$ref":"https://remexec.invalid/schema/shared/grpc_endpoint.json"}},"store_type":{"description":"Which of its services is used. A `cas` accepts only blobs that match their digest, so neither `compression` nor the `index_store` of a `dedup` may be on top of one.","type":"string","enum":["cas","ac"]},"record_secret":{"description":"For an `ac` that also keeps entries of HTTP caches or assets: a secret of at least 32 characters, the same in all servers that share them. There they are results like others, under digests that only this secret makes, and with a seal: without it every client that may write results there could write them too, so such a store is then refused for them. Such as `openssl rand -hex 32`.","type":"string","pattern":"^[\\x21-\\x7e]{32,}$","x-expected":"at least 32 visible characters of ASCII"},"retry":{"description":"How failed calls are retried.","$ref":"https://remexec.invalid/schema/shared/retry.json","default":{}},"max_concurrent_requests":{"description":"Most requests at one time, each counted until its last byte; 0 means no limit. Further ones wait.","type":["integer","string"],"x-value":"count","minimum":0,"default":0},"connections_per_endpoint":{"description":"Connections to each address.","type":["integer","string"],"x-value":"count","minimum":0,"default":1,"x-zero-is-default":true},"rpc_timeout_s":{"description":"Seconds that a call, or each part of a transfer, may take. 0 means no limit except the HTTP/2 pings.","type":["integer","string"],"x-value":"duration","default":0},"use_legacy_resource_names":{"description":"Leave the digest function out of byte stream names, for servers that do not know it. Names with SHA256 never have it.","type":["boolean","string"],"x-value":"bool","default":false},"experimental_chunked_uploads":{"description":"For a `cas` over a slow link, for example behind the `fast_slow` store of a worker elsewhere: blobs larger than a chunk are cut as the server announces, only chunks that it lacks are sent, and SpliceBlob puts them together there. A server that announces no chunking function gets whole blobs.","type":["boolean","string"],"x-value":"bool","default":false},"headers":{"description":"Metadata sent with every call.","type":"object","additionalProperties":{"type":"string"},"default":{}},"forward_headers":{"description":"Names of client metadata that is passed on with its calls. Calls of several clients are then not joined into batches.","type":"array","items":{"type":"string"},"default":[]},"experimental_read_batching":{"title":"ReadBatching","description":"How small blobs that are read or written at the same time are joined into one call. Left out: these defaults, or no batches with `forward_headers`, which excludes this key.","type":"object","properties":{"max_blob_size_bytes":{"description":"Largest blob that is batched; 0 batches none.","type":["integer","string"],"x-value":"size","default":131072},"max_batch_bytes":{"description":"Largest batch; never more than the other server announces.","type":["integer","string"],"x-value":"size","default":3145728},"dispatch_slots":{"description":"Batches in flight, of reads and of writes each. Requests that arrive meanwhile form the next ones.","type":["integer","string"],"x-value":"count","minimum":1,"default":4},"max_queued_bytes":{"description":"Most bytes waiting to be batched; blobs beyond that are transferred one by one.","type":["integer","string"],"x-value":"size","default":33554432}},"additionalProperties":false},"experimental_remote_cache_compression":{"description":"Transfer larger blobs compressed with zstd if the other server announces it.","type":["boolean","string"],"x-value":"bool","default":true,"x-nativelink-default":"`false`, unless `remote_cache_compression` of any `capabilities` is true"}},"additionalProperties":false,"required":["endpoints","store_type"]};
const schema39 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/shared/grpc_endpoint.json","title":"GrpcEndpoint","description":"One address of a remote gRPC server and how to connect to it.","type":"object","properties":{"address":{"description":"`grpc://host:port` or `http://host:port` without TLS, `grpcs://` or `https://` with it.","type":"string","x-also-called":["uri","url","endpoint"]},"tls_config":{"description":"Needed with a TLS scheme, rejected with a plain one.","$ref":"https://remexec.invalid/schema/shared/client_tls.json"},"concurrency_limit":{"description":"Most requests at one time on the connection; 0 means no limit.","type":["integer","string"],"x-value":"count","minimum":0,"default":0},"connect_timeout_s":{"description":"Seconds a call waits for a connection that is being made.","type":["integer","string"],"x-value":"duration","default":30,"x-zero-is-default":true},"tcp_keepalive_s":{"description":"Seconds between TCP keepalives.","type":["integer","string"],"x-value":"duration","default":30,"x-ignored":"the HTTP/2 pings find out about a lost connection"},"http2_keepalive_interval_s":{"description":"Seconds between HTTP/2 pings while calls are in flight.","type":["integer","string"],"x-value":"duration","default":30,"x-zero-is-default":true},"http2_keepalive_timeout_s":{"description":"Seconds a ping may stay unanswered before the connection counts as lost.","type":["integer","string"],"x-value":"duration","default":20,"x-zero-is-default":true}},"additionalProperties":false,"required":["address"]};
const schema40 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/shared/client_tls.json","title":"ClientTls","x-lenient":"always","description":"TLS of an outgoing connection.","type":"object","properties":{"ca_file":{"description":"PEM file with the authorities to trust; needed unless `use_native_roots` is set.","type":"string","x-path":true,"x-public":true},"cert_file":{"description":"PEM certificate that this process presents; goes with `key_file`.","type":"string","x-path":true},"key_file":{"description":"PEM key of `cert_file`.","type":"string","x-path":true},"server_name":{"description":"The name in the peer's certificate, if it differs from the host of the address.","type":"string"},"use_native_roots":{"description":"Trust the authorities of this machine.","type":["boolean","string"],"x-value":"bool","default":false}},"additionalProperties":false};

function validate91(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/shared/client_tls.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate91.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!(((((key0 === "ca_file") || (key0 === "cert_file")) || (key0 === "key_file")) || (key0 === "server_name")) || (key0 === "use_native_roots"))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema40,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.ca_file !== undefined){
let data0 = data.ca_file;
if(typeof data0 !== "string"){
const err1 = {instancePath:instancePath+"/ca_file",schemaPath:"#/properties/ca_file/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema40.properties.ca_file.type,parentSchema:schema40.properties.ca_file,data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.cert_file !== undefined){
let data1 = data.cert_file;
if(typeof data1 !== "string"){
const err2 = {instancePath:instancePath+"/cert_file",schemaPath:"#/properties/cert_file/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema40.properties.cert_file.type,parentSchema:schema40.properties.cert_file,data:data1};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.key_file !== undefined){
let data2 = data.key_file;
if(typeof data2 !== "string"){
const err3 = {instancePath:instancePath+"/key_file",schemaPath:"#/properties/key_file/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema40.properties.key_file.type,parentSchema:schema40.properties.key_file,data:data2};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.server_name !== undefined){
let data3 = data.server_name;
if(typeof data3 !== "string"){
const err4 = {instancePath:instancePath+"/server_name",schemaPath:"#/properties/server_name/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema40.properties.server_name.type,parentSchema:schema40.properties.server_name,data:data3};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.use_native_roots !== undefined){
let data4 = data.use_native_roots;
if((typeof data4 !== "boolean") && (typeof data4 !== "string")){
const err5 = {instancePath:instancePath+"/use_native_roots",schemaPath:"#/properties/use_native_roots/type",keyword:"type",params:{type: schema40.properties.use_native_roots.type},message:"must be boolean,string",schema:schema40.properties.use_native_roots.type,parentSchema:schema40.properties.use_native_roots,data:data4};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
const reason0 = checkScalar.call(this, "bool", data4, schema40.properties.use_native_roots, instancePath+"/use_native_roots");
if(reason0 !== undefined){
const err6 = {instancePath:instancePath+"/use_native_roots",schemaPath:"#/properties/use_native_roots/x-value",keyword:"x-value",params:{},message:reason0,schema:"bool",parentSchema:schema40.properties.use_native_roots,data:data4};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
}
else {
const err7 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema40.type,parentSchema:schema40,data};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
validate91.errors = vErrors;
return errors === 0;
}
validate91.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};


function validate90(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/shared/grpc_endpoint.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate90.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.address === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "address"},message:"must have required property '"+"address"+"'",schema:schema39.required,parentSchema:schema39,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(((((((key0 === "address") || (key0 === "tls_config")) || (key0 === "concurrency_limit")) || (key0 === "connect_timeout_s")) || (key0 === "tcp_keepalive_s")) || (key0 === "http2_keepalive_interval_s")) || (key0 === "http2_keepalive_timeout_s"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema39,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.address !== undefined){
let data0 = data.address;
if(typeof data0 !== "string"){
const err2 = {instancePath:instancePath+"/address",schemaPath:"#/properties/address/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema39.properties.address.type,parentSchema:schema39.properties.address,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.tls_config !== undefined){
if(!(validate91.call(this, data.tls_config, {instancePath:instancePath+"/tls_config",parentData:data,parentDataProperty:"tls_config",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate91.errors);
errors = vErrors.length;
}
}
if(data.concurrency_limit !== undefined){
let data2 = data.concurrency_limit;
if((!(((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2))) && (isFinite(data2)))) && (typeof data2 !== "string")){
const err3 = {instancePath:instancePath+"/concurrency_limit",schemaPath:"#/properties/concurrency_limit/type",keyword:"type",params:{type: schema39.properties.concurrency_limit.type},message:"must be integer,string",schema:schema39.properties.concurrency_limit.type,parentSchema:schema39.properties.concurrency_limit,data:data2};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
const reason0 = checkScalar.call(this, "count", data2, schema39.properties.concurrency_limit, instancePath+"/concurrency_limit");
if(reason0 !== undefined){
const err4 = {instancePath:instancePath+"/concurrency_limit",schemaPath:"#/properties/concurrency_limit/x-value",keyword:"x-value",params:{},message:reason0,schema:"count",parentSchema:schema39.properties.concurrency_limit,data:data2};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
if((typeof data2 == "number") && (isFinite(data2))){
if(data2 < 0 || isNaN(data2)){
const err5 = {instancePath:instancePath+"/concurrency_limit",schemaPath:"#/properties/concurrency_limit/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema39.properties.concurrency_limit,data:data2};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
}
if(data.connect_timeout_s !== undefined){
let data3 = data.connect_timeout_s;
if((!(((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3))) && (isFinite(data3)))) && (typeof data3 !== "string")){
const err6 = {instancePath:instancePath+"/connect_timeout_s",schemaPath:"#/properties/connect_timeout_s/type",keyword:"type",params:{type: schema39.properties.connect_timeout_s.type},message:"must be integer,string",schema:schema39.properties.connect_timeout_s.type,parentSchema:schema39.properties.connect_timeout_s,data:data3};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
const reason1 = checkScalar.call(this, "duration", data3, schema39.properties.connect_timeout_s, instancePath+"/connect_timeout_s");
if(reason1 !== undefined){
const err7 = {instancePath:instancePath+"/connect_timeout_s",schemaPath:"#/properties/connect_timeout_s/x-value",keyword:"x-value",params:{},message:reason1,schema:"duration",parentSchema:schema39.properties.connect_timeout_s,data:data3};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
if(data.tcp_keepalive_s !== undefined){
let data4 = data.tcp_keepalive_s;
if((!(((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4))) && (isFinite(data4)))) && (typeof data4 !== "string")){
const err8 = {instancePath:instancePath+"/tcp_keepalive_s",schemaPath:"#/properties/tcp_keepalive_s/type",keyword:"type",params:{type: schema39.properties.tcp_keepalive_s.type},message:"must be integer,string",schema:schema39.properties.tcp_keepalive_s.type,parentSchema:schema39.properties.tcp_keepalive_s,data:data4};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
const reason2 = checkScalar.call(this, "duration", data4, schema39.properties.tcp_keepalive_s, instancePath+"/tcp_keepalive_s");
if(reason2 !== undefined){
const err9 = {instancePath:instancePath+"/tcp_keepalive_s",schemaPath:"#/properties/tcp_keepalive_s/x-value",keyword:"x-value",params:{},message:reason2,schema:"duration",parentSchema:schema39.properties.tcp_keepalive_s,data:data4};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
if(data.http2_keepalive_interval_s !== undefined){
let data5 = data.http2_keepalive_interval_s;
if((!(((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5))) && (isFinite(data5)))) && (typeof data5 !== "string")){
const err10 = {instancePath:instancePath+"/http2_keepalive_interval_s",schemaPath:"#/properties/http2_keepalive_interval_s/type",keyword:"type",params:{type: schema39.properties.http2_keepalive_interval_s.type},message:"must be integer,string",schema:schema39.properties.http2_keepalive_interval_s.type,parentSchema:schema39.properties.http2_keepalive_interval_s,data:data5};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
const reason3 = checkScalar.call(this, "duration", data5, schema39.properties.http2_keepalive_interval_s, instancePath+"/http2_keepalive_interval_s");
if(reason3 !== undefined){
const err11 = {instancePath:instancePath+"/http2_keepalive_interval_s",schemaPath:"#/properties/http2_keepalive_interval_s/x-value",keyword:"x-value",params:{},message:reason3,schema:"duration",parentSchema:schema39.properties.http2_keepalive_interval_s,data:data5};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
if(data.http2_keepalive_timeout_s !== undefined){
let data6 = data.http2_keepalive_timeout_s;
if((!(((typeof data6 == "number") && (!(data6 % 1) && !isNaN(data6))) && (isFinite(data6)))) && (typeof data6 !== "string")){
const err12 = {instancePath:instancePath+"/http2_keepalive_timeout_s",schemaPath:"#/properties/http2_keepalive_timeout_s/type",keyword:"type",params:{type: schema39.properties.http2_keepalive_timeout_s.type},message:"must be integer,string",schema:schema39.properties.http2_keepalive_timeout_s.type,parentSchema:schema39.properties.http2_keepalive_timeout_s,data:data6};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
const reason4 = checkScalar.call(this, "duration", data6, schema39.properties.http2_keepalive_timeout_s, instancePath+"/http2_keepalive_timeout_s");
if(reason4 !== undefined){
const err13 = {instancePath:instancePath+"/http2_keepalive_timeout_s",schemaPath:"#/properties/http2_keepalive_timeout_s/x-value",keyword:"x-value",params:{},message:reason4,schema:"duration",parentSchema:schema39.properties.http2_keepalive_timeout_s,data:data6};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
}
}
else {
const err14 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema39.type,parentSchema:schema39,data};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
validate90.errors = vErrors;
return errors === 0;
}
validate90.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema41 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/shared/retry.json","title":"Retry","description":"How a failed call to a remote backend is retried. In addition, a call whose connection broke before any answer is repeated once at once, because backends close idle connections at the moment of reuse.","type":"object","properties":{"max_retries":{"description":"Further attempts after the first one.","type":["integer","string"],"x-value":"count","minimum":0,"default":0},"delay":{"description":"Base of the waiting time in seconds; the first wait is twice this and every later one doubles.","type":["number","string"],"x-value":"number","minimum":0,"default":0},"jitter":{"description":"Fraction of each wait that is random: 0.5 spreads it from 75 % to 125 %.","type":["number","string"],"x-value":"number","minimum":0,"default":0},"budget_s":{"description":"Seconds after the first attempt in which further attempts may begin; 0 means no limit.","type":["integer","string"],"x-value":"duration","default":60},"retry_on_errors":{"description":"Status names that are retried. Left out: Unknown, Cancelled, DeadlineExceeded, ResourceExhausted, Aborted, Internal, Unavailable and DataLoss.","type":"array","items":{"type":"string","enum":["Cancelled","Unknown","InvalidArgument","DeadlineExceeded","NotFound","AlreadyExists","PermissionDenied","ResourceExhausted","FailedPrecondition","Aborted","OutOfRange","Unimplemented","Internal","Unavailable","DataLoss","Unauthenticated"]}}},"additionalProperties":false};

function validate94(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/shared/retry.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate94.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!(((((key0 === "max_retries") || (key0 === "delay")) || (key0 === "jitter")) || (key0 === "budget_s")) || (key0 === "retry_on_errors"))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema41,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.max_retries !== undefined){
let data0 = data.max_retries;
if((!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))) && (typeof data0 !== "string")){
const err1 = {instancePath:instancePath+"/max_retries",schemaPath:"#/properties/max_retries/type",keyword:"type",params:{type: schema41.properties.max_retries.type},message:"must be integer,string",schema:schema41.properties.max_retries.type,parentSchema:schema41.properties.max_retries,data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
const reason0 = checkScalar.call(this, "count", data0, schema41.properties.max_retries, instancePath+"/max_retries");
if(reason0 !== undefined){
const err2 = {instancePath:instancePath+"/max_retries",schemaPath:"#/properties/max_retries/x-value",keyword:"x-value",params:{},message:reason0,schema:"count",parentSchema:schema41.properties.max_retries,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 < 0 || isNaN(data0)){
const err3 = {instancePath:instancePath+"/max_retries",schemaPath:"#/properties/max_retries/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema41.properties.max_retries,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
}
if(data.delay !== undefined){
let data1 = data.delay;
if((!((typeof data1 == "number") && (isFinite(data1)))) && (typeof data1 !== "string")){
const err4 = {instancePath:instancePath+"/delay",schemaPath:"#/properties/delay/type",keyword:"type",params:{type: schema41.properties.delay.type},message:"must be number,string",schema:schema41.properties.delay.type,parentSchema:schema41.properties.delay,data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
const reason1 = checkScalar.call(this, "number", data1, schema41.properties.delay, instancePath+"/delay");
if(reason1 !== undefined){
const err5 = {instancePath:instancePath+"/delay",schemaPath:"#/properties/delay/x-value",keyword:"x-value",params:{},message:reason1,schema:"number",parentSchema:schema41.properties.delay,data:data1};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if((typeof data1 == "number") && (isFinite(data1))){
if(data1 < 0 || isNaN(data1)){
const err6 = {instancePath:instancePath+"/delay",schemaPath:"#/properties/delay/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema41.properties.delay,data:data1};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
}
if(data.jitter !== undefined){
let data2 = data.jitter;
if((!((typeof data2 == "number") && (isFinite(data2)))) && (typeof data2 !== "string")){
const err7 = {instancePath:instancePath+"/jitter",schemaPath:"#/properties/jitter/type",keyword:"type",params:{type: schema41.properties.jitter.type},message:"must be number,string",schema:schema41.properties.jitter.type,parentSchema:schema41.properties.jitter,data:data2};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
const reason2 = checkScalar.call(this, "number", data2, schema41.properties.jitter, instancePath+"/jitter");
if(reason2 !== undefined){
const err8 = {instancePath:instancePath+"/jitter",schemaPath:"#/properties/jitter/x-value",keyword:"x-value",params:{},message:reason2,schema:"number",parentSchema:schema41.properties.jitter,data:data2};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
if((typeof data2 == "number") && (isFinite(data2))){
if(data2 < 0 || isNaN(data2)){
const err9 = {instancePath:instancePath+"/jitter",schemaPath:"#/properties/jitter/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema41.properties.jitter,data:data2};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
}
if(data.budget_s !== undefined){
let data3 = data.budget_s;
if((!(((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3))) && (isFinite(data3)))) && (typeof data3 !== "string")){
const err10 = {instancePath:instancePath+"/budget_s",schemaPath:"#/properties/budget_s/type",keyword:"type",params:{type: schema41.properties.budget_s.type},message:"must be integer,string",schema:schema41.properties.budget_s.type,parentSchema:schema41.properties.budget_s,data:data3};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
const reason3 = checkScalar.call(this, "duration", data3, schema41.properties.budget_s, instancePath+"/budget_s");
if(reason3 !== undefined){
const err11 = {instancePath:instancePath+"/budget_s",schemaPath:"#/properties/budget_s/x-value",keyword:"x-value",params:{},message:reason3,schema:"duration",parentSchema:schema41.properties.budget_s,data:data3};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
if(data.retry_on_errors !== undefined){
let data4 = data.retry_on_errors;
if(Array.isArray(data4)){
const len0 = data4.length;
for(let i0=0; i0<len0; i0++){
let data5 = data4[i0];
if(typeof data5 !== "string"){
const err12 = {instancePath:instancePath+"/retry_on_errors/" + i0,schemaPath:"#/properties/retry_on_errors/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema41.properties.retry_on_errors.items.type,parentSchema:schema41.properties.retry_on_errors.items,data:data5};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
if(!((((((((((((((((data5 === "Cancelled") || (data5 === "Unknown")) || (data5 === "InvalidArgument")) || (data5 === "DeadlineExceeded")) || (data5 === "NotFound")) || (data5 === "AlreadyExists")) || (data5 === "PermissionDenied")) || (data5 === "ResourceExhausted")) || (data5 === "FailedPrecondition")) || (data5 === "Aborted")) || (data5 === "OutOfRange")) || (data5 === "Unimplemented")) || (data5 === "Internal")) || (data5 === "Unavailable")) || (data5 === "DataLoss")) || (data5 === "Unauthenticated"))){
const err13 = {instancePath:instancePath+"/retry_on_errors/" + i0,schemaPath:"#/properties/retry_on_errors/items/enum",keyword:"enum",params:{allowedValues: schema41.properties.retry_on_errors.items.enum},message:"must be equal to one of the allowed values",schema:schema41.properties.retry_on_errors.items.enum,parentSchema:schema41.properties.retry_on_errors.items,data:data5};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
}
}
else {
const err14 = {instancePath:instancePath+"/retry_on_errors",schemaPath:"#/properties/retry_on_errors/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema41.properties.retry_on_errors.type,parentSchema:schema41.properties.retry_on_errors,data:data4};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
}
else {
const err15 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema41.type,parentSchema:schema41,data};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
validate94.errors = vErrors;
return errors === 0;
}
validate94.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const pattern3 = new RegExp("^[\\x21-\\x7e]{32,}$", "u");

function validate89(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/store/grpc.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate89.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.endpoints === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "endpoints"},message:"must have required property '"+"endpoints"+"'",schema:schema38.required,parentSchema:schema38,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.store_type === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "store_type"},message:"must have required property '"+"store_type"+"'",schema:schema38.required,parentSchema:schema38,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
for(const key0 in data){
if(!(func1.call(schema38.properties, key0))){
const err2 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema38,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.instance_name !== undefined){
let data0 = data.instance_name;
if(typeof data0 !== "string"){
const err3 = {instancePath:instancePath+"/instance_name",schemaPath:"#/properties/instance_name/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema38.properties.instance_name.type,parentSchema:schema38.properties.instance_name,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.endpoints !== undefined){
let data1 = data.endpoints;
if(Array.isArray(data1)){
if(data1.length < 1){
const err4 = {instancePath:instancePath+"/endpoints",schemaPath:"#/properties/endpoints/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema38.properties.endpoints,data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
const len0 = data1.length;
for(let i0=0; i0<len0; i0++){
if(!(validate90.call(this, data1[i0], {instancePath:instancePath+"/endpoints/" + i0,parentData:data1,parentDataProperty:i0,rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate90.errors);
errors = vErrors.length;
}
}
}
else {
const err5 = {instancePath:instancePath+"/endpoints",schemaPath:"#/properties/endpoints/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema38.properties.endpoints.type,parentSchema:schema38.properties.endpoints,data:data1};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data.store_type !== undefined){
let data3 = data.store_type;
if(typeof data3 !== "string"){
const err6 = {instancePath:instancePath+"/store_type",schemaPath:"#/properties/store_type/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema38.properties.store_type.type,parentSchema:schema38.properties.store_type,data:data3};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if(!((data3 === "cas") || (data3 === "ac"))){
const err7 = {instancePath:instancePath+"/store_type",schemaPath:"#/properties/store_type/enum",keyword:"enum",params:{allowedValues: schema38.properties.store_type.enum},message:"must be equal to one of the allowed values",schema:schema38.properties.store_type.enum,parentSchema:schema38.properties.store_type,data:data3};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
if(data.record_secret !== undefined){
let data4 = data.record_secret;
if(typeof data4 === "string"){
if(!pattern3.test(data4)){
const err8 = {instancePath:instancePath+"/record_secret",schemaPath:"#/properties/record_secret/pattern",keyword:"pattern",params:{pattern: "^[\\x21-\\x7e]{32,}$"},message:"must match pattern \""+"^[\\x21-\\x7e]{32,}$"+"\"",schema:"^[\\x21-\\x7e]{32,}$",parentSchema:schema38.properties.record_secret,data:data4};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
else {
const err9 = {instancePath:instancePath+"/record_secret",schemaPath:"#/properties/record_secret/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema38.properties.record_secret.type,parentSchema:schema38.properties.record_secret,data:data4};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
if(data.retry !== undefined){
if(!(validate94.call(this, data.retry, {instancePath:instancePath+"/retry",parentData:data,parentDataProperty:"retry",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate94.errors);
errors = vErrors.length;
}
}
if(data.max_concurrent_requests !== undefined){
let data6 = data.max_concurrent_requests;
if((!(((typeof data6 == "number") && (!(data6 % 1) && !isNaN(data6))) && (isFinite(data6)))) && (typeof data6 !== "string")){
const err10 = {instancePath:instancePath+"/max_concurrent_requests",schemaPath:"#/properties/max_concurrent_requests/type",keyword:"type",params:{type: schema38.properties.max_concurrent_requests.type},message:"must be integer,string",schema:schema38.properties.max_concurrent_requests.type,parentSchema:schema38.properties.max_concurrent_requests,data:data6};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
const reason0 = checkScalar.call(this, "count", data6, schema38.properties.max_concurrent_requests, instancePath+"/max_concurrent_requests");
if(reason0 !== undefined){
const err11 = {instancePath:instancePath+"/max_concurrent_requests",schemaPath:"#/properties/max_concurrent_requests/x-value",keyword:"x-value",params:{},message:reason0,schema:"count",parentSchema:schema38.properties.max_concurrent_requests,data:data6};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
if((typeof data6 == "number") && (isFinite(data6))){
if(data6 < 0 || isNaN(data6)){
const err12 = {instancePath:instancePath+"/max_concurrent_requests",schemaPath:"#/properties/max_concurrent_requests/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema38.properties.max_concurrent_requests,data:data6};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
}
if(data.connections_per_endpoint !== undefined){
let data7 = data.connections_per_endpoint;
if((!(((typeof data7 == "number") && (!(data7 % 1) && !isNaN(data7))) && (isFinite(data7)))) && (typeof data7 !== "string")){
const err13 = {instancePath:instancePath+"/connections_per_endpoint",schemaPath:"#/properties/connections_per_endpoint/type",keyword:"type",params:{type: schema38.properties.connections_per_endpoint.type},message:"must be integer,string",schema:schema38.properties.connections_per_endpoint.type,parentSchema:schema38.properties.connections_per_endpoint,data:data7};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
const reason1 = checkScalar.call(this, "count", data7, schema38.properties.connections_per_endpoint, instancePath+"/connections_per_endpoint");
if(reason1 !== undefined){
const err14 = {instancePath:instancePath+"/connections_per_endpoint",schemaPath:"#/properties/connections_per_endpoint/x-value",keyword:"x-value",params:{},message:reason1,schema:"count",parentSchema:schema38.properties.connections_per_endpoint,data:data7};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
if((typeof data7 == "number") && (isFinite(data7))){
if(data7 < 0 || isNaN(data7)){
const err15 = {instancePath:instancePath+"/connections_per_endpoint",schemaPath:"#/properties/connections_per_endpoint/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema38.properties.connections_per_endpoint,data:data7};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
}
if(data.rpc_timeout_s !== undefined){
let data8 = data.rpc_timeout_s;
if((!(((typeof data8 == "number") && (!(data8 % 1) && !isNaN(data8))) && (isFinite(data8)))) && (typeof data8 !== "string")){
const err16 = {instancePath:instancePath+"/rpc_timeout_s",schemaPath:"#/properties/rpc_timeout_s/type",keyword:"type",params:{type: schema38.properties.rpc_timeout_s.type},message:"must be integer,string",schema:schema38.properties.rpc_timeout_s.type,parentSchema:schema38.properties.rpc_timeout_s,data:data8};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
const reason2 = checkScalar.call(this, "duration", data8, schema38.properties.rpc_timeout_s, instancePath+"/rpc_timeout_s");
if(reason2 !== undefined){
const err17 = {instancePath:instancePath+"/rpc_timeout_s",schemaPath:"#/properties/rpc_timeout_s/x-value",keyword:"x-value",params:{},message:reason2,schema:"duration",parentSchema:schema38.properties.rpc_timeout_s,data:data8};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
}
if(data.use_legacy_resource_names !== undefined){
let data9 = data.use_legacy_resource_names;
if((typeof data9 !== "boolean") && (typeof data9 !== "string")){
const err18 = {instancePath:instancePath+"/use_legacy_resource_names",schemaPath:"#/properties/use_legacy_resource_names/type",keyword:"type",params:{type: schema38.properties.use_legacy_resource_names.type},message:"must be boolean,string",schema:schema38.properties.use_legacy_resource_names.type,parentSchema:schema38.properties.use_legacy_resource_names,data:data9};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
const reason3 = checkScalar.call(this, "bool", data9, schema38.properties.use_legacy_resource_names, instancePath+"/use_legacy_resource_names");
if(reason3 !== undefined){
const err19 = {instancePath:instancePath+"/use_legacy_resource_names",schemaPath:"#/properties/use_legacy_resource_names/x-value",keyword:"x-value",params:{},message:reason3,schema:"bool",parentSchema:schema38.properties.use_legacy_resource_names,data:data9};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
}
if(data.experimental_chunked_uploads !== undefined){
let data10 = data.experimental_chunked_uploads;
if((typeof data10 !== "boolean") && (typeof data10 !== "string")){
const err20 = {instancePath:instancePath+"/experimental_chunked_uploads",schemaPath:"#/properties/experimental_chunked_uploads/type",keyword:"type",params:{type: schema38.properties.experimental_chunked_uploads.type},message:"must be boolean,string",schema:schema38.properties.experimental_chunked_uploads.type,parentSchema:schema38.properties.experimental_chunked_uploads,data:data10};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
const reason4 = checkScalar.call(this, "bool", data10, schema38.properties.experimental_chunked_uploads, instancePath+"/experimental_chunked_uploads");
if(reason4 !== undefined){
const err21 = {instancePath:instancePath+"/experimental_chunked_uploads",schemaPath:"#/properties/experimental_chunked_uploads/x-value",keyword:"x-value",params:{},message:reason4,schema:"bool",parentSchema:schema38.properties.experimental_chunked_uploads,data:data10};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
}
if(data.headers !== undefined){
let data11 = data.headers;
if(data11 && typeof data11 == "object" && !Array.isArray(data11)){
for(const key1 in data11){
let data12 = data11[key1];
if(typeof data12 !== "string"){
const err22 = {instancePath:instancePath+"/headers/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/headers/additionalProperties/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema38.properties.headers.additionalProperties.type,parentSchema:schema38.properties.headers.additionalProperties,data:data12};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
}
}
else {
const err23 = {instancePath:instancePath+"/headers",schemaPath:"#/properties/headers/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema38.properties.headers.type,parentSchema:schema38.properties.headers,data:data11};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
}
if(data.forward_headers !== undefined){
let data13 = data.forward_headers;
if(Array.isArray(data13)){
const len1 = data13.length;
for(let i1=0; i1<len1; i1++){
let data14 = data13[i1];
if(typeof data14 !== "string"){
const err24 = {instancePath:instancePath+"/forward_headers/" + i1,schemaPath:"#/properties/forward_headers/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema38.properties.forward_headers.items.type,parentSchema:schema38.properties.forward_headers.items,data:data14};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
}
}
else {
const err25 = {instancePath:instancePath+"/forward_headers",schemaPath:"#/properties/forward_headers/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema38.properties.forward_headers.type,parentSchema:schema38.properties.forward_headers,data:data13};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
}
if(data.experimental_read_batching !== undefined){
let data15 = data.experimental_read_batching;
if(data15 && typeof data15 == "object" && !Array.isArray(data15)){
for(const key2 in data15){
if(!((((key2 === "max_blob_size_bytes") || (key2 === "max_batch_bytes")) || (key2 === "dispatch_slots")) || (key2 === "max_queued_bytes"))){
const err26 = {instancePath:instancePath+"/experimental_read_batching",schemaPath:"#/properties/experimental_read_batching/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key2},message:"must NOT have additional properties",schema:false,parentSchema:schema38.properties.experimental_read_batching,data:data15};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
}
if(data15.max_blob_size_bytes !== undefined){
let data16 = data15.max_blob_size_bytes;
if((!(((typeof data16 == "number") && (!(data16 % 1) && !isNaN(data16))) && (isFinite(data16)))) && (typeof data16 !== "string")){
const err27 = {instancePath:instancePath+"/experimental_read_batching/max_blob_size_bytes",schemaPath:"#/properties/experimental_read_batching/properties/max_blob_size_bytes/type",keyword:"type",params:{type: schema38.properties.experimental_read_batching.properties.max_blob_size_bytes.type},message:"must be integer,string",schema:schema38.properties.experimental_read_batching.properties.max_blob_size_bytes.type,parentSchema:schema38.properties.experimental_read_batching.properties.max_blob_size_bytes,data:data16};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
const reason5 = checkScalar.call(this, "size", data16, schema38.properties.experimental_read_batching.properties.max_blob_size_bytes, instancePath+"/experimental_read_batching/max_blob_size_bytes");
if(reason5 !== undefined){
const err28 = {instancePath:instancePath+"/experimental_read_batching/max_blob_size_bytes",schemaPath:"#/properties/experimental_read_batching/properties/max_blob_size_bytes/x-value",keyword:"x-value",params:{},message:reason5,schema:"size",parentSchema:schema38.properties.experimental_read_batching.properties.max_blob_size_bytes,data:data16};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
}
if(data15.max_batch_bytes !== undefined){
let data17 = data15.max_batch_bytes;
if((!(((typeof data17 == "number") && (!(data17 % 1) && !isNaN(data17))) && (isFinite(data17)))) && (typeof data17 !== "string")){
const err29 = {instancePath:instancePath+"/experimental_read_batching/max_batch_bytes",schemaPath:"#/properties/experimental_read_batching/properties/max_batch_bytes/type",keyword:"type",params:{type: schema38.properties.experimental_read_batching.properties.max_batch_bytes.type},message:"must be integer,string",schema:schema38.properties.experimental_read_batching.properties.max_batch_bytes.type,parentSchema:schema38.properties.experimental_read_batching.properties.max_batch_bytes,data:data17};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
const reason6 = checkScalar.call(this, "size", data17, schema38.properties.experimental_read_batching.properties.max_batch_bytes, instancePath+"/experimental_read_batching/max_batch_bytes");
if(reason6 !== undefined){
const err30 = {instancePath:instancePath+"/experimental_read_batching/max_batch_bytes",schemaPath:"#/properties/experimental_read_batching/properties/max_batch_bytes/x-value",keyword:"x-value",params:{},message:reason6,schema:"size",parentSchema:schema38.properties.experimental_read_batching.properties.max_batch_bytes,data:data17};
if(vErrors === null){
vErrors = [err30];
}
else {
vErrors.push(err30);
}
errors++;
}
}
if(data15.dispatch_slots !== undefined){
let data18 = data15.dispatch_slots;
if((!(((typeof data18 == "number") && (!(data18 % 1) && !isNaN(data18))) && (isFinite(data18)))) && (typeof data18 !== "string")){
const err31 = {instancePath:instancePath+"/experimental_read_batching/dispatch_slots",schemaPath:"#/properties/experimental_read_batching/properties/dispatch_slots/type",keyword:"type",params:{type: schema38.properties.experimental_read_batching.properties.dispatch_slots.type},message:"must be integer,string",schema:schema38.properties.experimental_read_batching.properties.dispatch_slots.type,parentSchema:schema38.properties.experimental_read_batching.properties.dispatch_slots,data:data18};
if(vErrors === null){
vErrors = [err31];
}
else {
vErrors.push(err31);
}
errors++;
}
const reason7 = checkScalar.call(this, "count", data18, schema38.properties.experimental_read_batching.properties.dispatch_slots, instancePath+"/experimental_read_batching/dispatch_slots");
if(reason7 !== undefined){
const err32 = {instancePath:instancePath+"/experimental_read_batching/dispatch_slots",schemaPath:"#/properties/experimental_read_batching/properties/dispatch_slots/x-value",keyword:"x-value",params:{},message:reason7,schema:"count",parentSchema:schema38.properties.experimental_read_batching.properties.dispatch_slots,data:data18};
if(vErrors === null){
vErrors = [err32];
}
else {
vErrors.push(err32);
}
errors++;
}
if((typeof data18 == "number") && (isFinite(data18))){
if(data18 < 1 || isNaN(data18)){
const err33 = {instancePath:instancePath+"/experimental_read_batching/dispatch_slots",schemaPath:"#/properties/experimental_read_batching/properties/dispatch_slots/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema38.properties.experimental_read_batching.properties.dispatch_slots,data:data18};
if(vErrors === null){
vErrors = [err33];
}
else {
vErrors.push(err33);
}
errors++;
}
}
}
if(data15.max_queued_bytes !== undefined){
let data19 = data15.max_queued_bytes;
if((!(((typeof data19 == "number") && (!(data19 % 1) && !isNaN(data19))) && (isFinite(data19)))) && (typeof data19 !== "string")){
const err34 = {instancePath:instancePath+"/experimental_read_batching/max_queued_bytes",schemaPath:"#/properties/experimental_read_batching/properties/max_queued_bytes/type",keyword:"type",params:{type: schema38.properties.experimental_read_batching.properties.max_queued_bytes.type},message:"must be integer,string",schema:schema38.properties.experimental_read_batching.properties.max_queued_bytes.type,parentSchema:schema38.properties.experimental_read_batching.properties.max_queued_bytes,data:data19};
if(vErrors === null){
vErrors = [err34];
}
else {
vErrors.push(err34);
}
errors++;
}
const reason8 = checkScalar.call(this, "size", data19, schema38.properties.experimental_read_batching.properties.max_queued_bytes, instancePath+"/experimental_read_batching/max_queued_bytes");
if(reason8 !== undefined){
const err35 = {instancePath:instancePath+"/experimental_read_batching/max_queued_bytes",schemaPath:"#/properties/experimental_read_batching/properties/max_queued_bytes/x-value",keyword:"x-value",params:{},message:reason8,schema:"size",parentSchema:schema38.properties.experimental_read_batching.properties.max_queued_bytes,data:data19};
if(vErrors === null){
vErrors = [err35];
}
else {
vErrors.push(err35);
}
errors++;
}
}
}
else {
const err36 = {instancePath:instancePath+"/experimental_read_batching",schemaPath:"#/properties/experimental_read_batching/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema38.properties.experimental_read_batching.type,parentSchema:schema38.properties.experimental_read_batching,data:data15};
if(vErrors === null){
vErrors = [err36];
}
else {
vErrors.push(err36);
}
errors++;
}
}
if(data.experimental_remote_cache_compression !== undefined){
let data20 = data.experimental_remote_cache_compression;
if((typeof data20 !== "boolean") && (typeof data20 !== "string")){
const err37 = {instancePath:instancePath+"/experimental_remote_cache_compression",schemaPath:"#/properties/experimental_remote_cache_compression/type",keyword:"type",params:{type: schema38.properties.experimental_remote_cache_compression.type},message:"must be boolean,string",schema:schema38.properties.experimental_remote_cache_compression.type,parentSchema:schema38.properties.experimental_remote_cache_compression,data:data20};
if(vErrors === null){
vErrors = [err37];
}
else {
vErrors.push(err37);
}
errors++;
}
const reason9 = checkScalar.call(this, "bool", data20, schema38.properties.experimental_remote_cache_compression, instancePath+"/experimental_remote_cache_compression");
if(reason9 !== undefined){
const err38 = {instancePath:instancePath+"/experimental_remote_cache_compression",schemaPath:"#/properties/experimental_remote_cache_compression/x-value",keyword:"x-value",params:{},message:reason9,schema:"bool",parentSchema:schema38.properties.experimental_remote_cache_compression,data:data20};
if(vErrors === null){
vErrors = [err38];
}
else {
vErrors.push(err38);
}
errors++;
}
}
}
else {
const err39 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema38.type,parentSchema:schema38,data};
if(vErrors === null){
vErrors = [err39];
}
else {
vErrors.push(err39);
}
errors++;
}
validate89.errors = vErrors;
return errors === 0;
}
validate89.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema42 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/store/redis_store.json","title":"redis_store","description":"Keeps blobs in Redis, or a compatible server, for machines that share a cache, above all action results and small blobs. When its memory is full, Redis evicts by its own policy (`maxmemory-policy`).","type":"object","properties":{"addresses":{"description":"`redis://[username:password@]host[:port][/database]`, or `rediss://` for TLS. Give exactly one address, or for `cluster` some of its nodes. For `sentinel` give some of the sentinels: `redis+sentinel://host[:port][/database]?sentinelServiceName=name`. The name defaults to `master`; `sentinelUsername` and `sentinelPassword` are for the sentinels, the credentials before `@` for the servers.","type":"array","items":{"type":"string"},"minItems":1},"mode":{"description":"How the servers are organised: one server, a server and its replicas watched by sentinels, or a cluster.","type":"string","enum":["standard","sentinel","cluster"],"default":"standard"},"key_prefix":{"description":"Prefix of every key. Stores that share a Redis need different prefixes, above all an action cache and a CAS. With a hash tag in it (`{builds}:`) a cluster keeps everything on one node.","type":"string","default":""},"experimental_pub_sub_channel":{"description":"Channel for change notifications of a scheduler.","type":"string","x-ignored":"it is for schedulers that keep their state in Redis, and none here does"},"command_timeout_ms":{"description":"Milliseconds a command may take. A server that is silent for this long counts as lost and is connected again.","type":["integer","string"],"x-value":"count","minimum":0,"default":10000,"x-zero-is-default":true},"connection_timeout_ms":{"description":"Milliseconds an attempt to connect may take. The start waits this long once; after that the server runs without its Redis until it answers.","type":["integer","string"],"x-value":"count","minimum":0,"default":3000,"x-zero-is-default":true},"health_check_timeout_ms":{"description":"Milliseconds a health probe may take.","type":["integer","string"],"x-value":"count","minimum":0,"default":4000,"x-zero-is-default":true},"read_chunk_size":{"description":"Blobs of up to this many bytes are one string in Redis. Larger ones are a hash with chunks of this size, a few of which are read and written at a time. Blobs written with another size stay readable.","type":["integer","string"],"x-value":"size","default":65536,"x-zero-is-default":true},"connection_pool_size":{"description":"Open connections, in a cluster to each of its nodes. Commands share them.","type":["integer","string"],"x-value":"count","minimum":0,"default":3,"x-zero-is-default":true},"key_ttl_s":{"description":"Seconds after its upload, or after the last FindMissingBlobs that found it, until Redis expires a blob; 0 means never.","type":["integer","string"],"x-value":"duration","default":0},"max_chunk_uploads_per_update":{"description":"Chunks of one upload in flight at one time.","type":["integer","string"],"x-value":"count","minimum":0,"default":10,"x-zero-is-default":true},"scan_count":{"description":"Keys asked for in one scan step.","type":["integer","string"],"x-value":"count","minimum":0,"default":10000,"x-ignored":"the store never lists its keys"},"max_client_permits":{"description":"Most requests at one time; further ones wait.","type":["integer","string"],"x-value":"count","minimum":0,"default":500,"x-zero-is-default":true},"max_count_per_cursor":{"description":"Rows per page of a search.","type":["integer","string"],"x-value":"count","minimum":0,"default":1500,"x-ignored":"no search is made in Redis"},"retry":{"description":"How failed calls are retried.","$ref":"https://remexec.invalid/schema/shared/retry.json","default":{"max_retries":1,"delay":0.1}},"response_timeout_s":{"description":"No longer used: see `command_timeout_ms`.","deprecated":true,"x-ignored":"`command_timeout_ms` limits every answer"},"broadcast_channel_capacity":{"description":"No longer used.","deprecated":true,"x-ignored":"it is for schedulers that keep their state in Redis, and none here does"},"connection_timeout_s":{"description":"The same as `connection_timeout_ms`, in seconds; excludes that key.","type":["integer","string"],"x-value":"count","minimum":0,"deprecated":true}},"additionalProperties":false,"required":["addresses"],"x-lenient":"always"};

function validate97(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/store/redis_store.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate97.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.addresses === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "addresses"},message:"must have required property '"+"addresses"+"'",schema:schema42.required,parentSchema:schema42,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(func1.call(schema42.properties, key0))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema42,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.addresses !== undefined){
let data0 = data.addresses;
if(Array.isArray(data0)){
if(data0.length < 1){
const err2 = {instancePath:instancePath+"/addresses",schemaPath:"#/properties/addresses/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema42.properties.addresses,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
const len0 = data0.length;
for(let i0=0; i0<len0; i0++){
let data1 = data0[i0];
if(typeof data1 !== "string"){
const err3 = {instancePath:instancePath+"/addresses/" + i0,schemaPath:"#/properties/addresses/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema42.properties.addresses.items.type,parentSchema:schema42.properties.addresses.items,data:data1};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
}
else {
const err4 = {instancePath:instancePath+"/addresses",schemaPath:"#/properties/addresses/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema42.properties.addresses.type,parentSchema:schema42.properties.addresses,data:data0};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.mode !== undefined){
let data2 = data.mode;
if(typeof data2 !== "string"){
const err5 = {instancePath:instancePath+"/mode",schemaPath:"#/properties/mode/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema42.properties.mode.type,parentSchema:schema42.properties.mode,data:data2};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if(!(((data2 === "standard") || (data2 === "sentinel")) || (data2 === "cluster"))){
const err6 = {instancePath:instancePath+"/mode",schemaPath:"#/properties/mode/enum",keyword:"enum",params:{allowedValues: schema42.properties.mode.enum},message:"must be equal to one of the allowed values",schema:schema42.properties.mode.enum,parentSchema:schema42.properties.mode,data:data2};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data.key_prefix !== undefined){
let data3 = data.key_prefix;
if(typeof data3 !== "string"){
const err7 = {instancePath:instancePath+"/key_prefix",schemaPath:"#/properties/key_prefix/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema42.properties.key_prefix.type,parentSchema:schema42.properties.key_prefix,data:data3};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
if(data.experimental_pub_sub_channel !== undefined){
let data4 = data.experimental_pub_sub_channel;
if(typeof data4 !== "string"){
const err8 = {instancePath:instancePath+"/experimental_pub_sub_channel",schemaPath:"#/properties/experimental_pub_sub_channel/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema42.properties.experimental_pub_sub_channel.type,parentSchema:schema42.properties.experimental_pub_sub_channel,data:data4};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
if(data.command_timeout_ms !== undefined){
let data5 = data.command_timeout_ms;
if((!(((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5))) && (isFinite(data5)))) && (typeof data5 !== "string")){
const err9 = {instancePath:instancePath+"/command_timeout_ms",schemaPath:"#/properties/command_timeout_ms/type",keyword:"type",params:{type: schema42.properties.command_timeout_ms.type},message:"must be integer,string",schema:schema42.properties.command_timeout_ms.type,parentSchema:schema42.properties.command_timeout_ms,data:data5};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
const reason0 = checkScalar.call(this, "count", data5, schema42.properties.command_timeout_ms, instancePath+"/command_timeout_ms");
if(reason0 !== undefined){
const err10 = {instancePath:instancePath+"/command_timeout_ms",schemaPath:"#/properties/command_timeout_ms/x-value",keyword:"x-value",params:{},message:reason0,schema:"count",parentSchema:schema42.properties.command_timeout_ms,data:data5};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
if((typeof data5 == "number") && (isFinite(data5))){
if(data5 < 0 || isNaN(data5)){
const err11 = {instancePath:instancePath+"/command_timeout_ms",schemaPath:"#/properties/command_timeout_ms/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema42.properties.command_timeout_ms,data:data5};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
}
if(data.connection_timeout_ms !== undefined){
let data6 = data.connection_timeout_ms;
if((!(((typeof data6 == "number") && (!(data6 % 1) && !isNaN(data6))) && (isFinite(data6)))) && (typeof data6 !== "string")){
const err12 = {instancePath:instancePath+"/connection_timeout_ms",schemaPath:"#/properties/connection_timeout_ms/type",keyword:"type",params:{type: schema42.properties.connection_timeout_ms.type},message:"must be integer,string",schema:schema42.properties.connection_timeout_ms.type,parentSchema:schema42.properties.connection_timeout_ms,data:data6};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
const reason1 = checkScalar.call(this, "count", data6, schema42.properties.connection_timeout_ms, instancePath+"/connection_timeout_ms");
if(reason1 !== undefined){
const err13 = {instancePath:instancePath+"/connection_timeout_ms",schemaPath:"#/properties/connection_timeout_ms/x-value",keyword:"x-value",params:{},message:reason1,schema:"count",parentSchema:schema42.properties.connection_timeout_ms,data:data6};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
if((typeof data6 == "number") && (isFinite(data6))){
if(data6 < 0 || isNaN(data6)){
const err14 = {instancePath:instancePath+"/connection_timeout_ms",schemaPath:"#/properties/connection_timeout_ms/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema42.properties.connection_timeout_ms,data:data6};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
}
if(data.health_check_timeout_ms !== undefined){
let data7 = data.health_check_timeout_ms;
if((!(((typeof data7 == "number") && (!(data7 % 1) && !isNaN(data7))) && (isFinite(data7)))) && (typeof data7 !== "string")){
const err15 = {instancePath:instancePath+"/health_check_timeout_ms",schemaPath:"#/properties/health_check_timeout_ms/type",keyword:"type",params:{type: schema42.properties.health_check_timeout_ms.type},message:"must be integer,string",schema:schema42.properties.health_check_timeout_ms.type,parentSchema:schema42.properties.health_check_timeout_ms,data:data7};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
const reason2 = checkScalar.call(this, "count", data7, schema42.properties.health_check_timeout_ms, instancePath+"/health_check_timeout_ms");
if(reason2 !== undefined){
const err16 = {instancePath:instancePath+"/health_check_timeout_ms",schemaPath:"#/properties/health_check_timeout_ms/x-value",keyword:"x-value",params:{},message:reason2,schema:"count",parentSchema:schema42.properties.health_check_timeout_ms,data:data7};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
if((typeof data7 == "number") && (isFinite(data7))){
if(data7 < 0 || isNaN(data7)){
const err17 = {instancePath:instancePath+"/health_check_timeout_ms",schemaPath:"#/properties/health_check_timeout_ms/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema42.properties.health_check_timeout_ms,data:data7};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
}
}
if(data.read_chunk_size !== undefined){
let data8 = data.read_chunk_size;
if((!(((typeof data8 == "number") && (!(data8 % 1) && !isNaN(data8))) && (isFinite(data8)))) && (typeof data8 !== "string")){
const err18 = {instancePath:instancePath+"/read_chunk_size",schemaPath:"#/properties/read_chunk_size/type",keyword:"type",params:{type: schema42.properties.read_chunk_size.type},message:"must be integer,string",schema:schema42.properties.read_chunk_size.type,parentSchema:schema42.properties.read_chunk_size,data:data8};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
const reason3 = checkScalar.call(this, "size", data8, schema42.properties.read_chunk_size, instancePath+"/read_chunk_size");
if(reason3 !== undefined){
const err19 = {instancePath:instancePath+"/read_chunk_size",schemaPath:"#/properties/read_chunk_size/x-value",keyword:"x-value",params:{},message:reason3,schema:"size",parentSchema:schema42.properties.read_chunk_size,data:data8};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
}
if(data.connection_pool_size !== undefined){
let data9 = data.connection_pool_size;
if((!(((typeof data9 == "number") && (!(data9 % 1) && !isNaN(data9))) && (isFinite(data9)))) && (typeof data9 !== "string")){
const err20 = {instancePath:instancePath+"/connection_pool_size",schemaPath:"#/properties/connection_pool_size/type",keyword:"type",params:{type: schema42.properties.connection_pool_size.type},message:"must be integer,string",schema:schema42.properties.connection_pool_size.type,parentSchema:schema42.properties.connection_pool_size,data:data9};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
const reason4 = checkScalar.call(this, "count", data9, schema42.properties.connection_pool_size, instancePath+"/connection_pool_size");
if(reason4 !== undefined){
const err21 = {instancePath:instancePath+"/connection_pool_size",schemaPath:"#/properties/connection_pool_size/x-value",keyword:"x-value",params:{},message:reason4,schema:"count",parentSchema:schema42.properties.connection_pool_size,data:data9};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
if((typeof data9 == "number") && (isFinite(data9))){
if(data9 < 0 || isNaN(data9)){
const err22 = {instancePath:instancePath+"/connection_pool_size",schemaPath:"#/properties/connection_pool_size/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema42.properties.connection_pool_size,data:data9};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
}
}
if(data.key_ttl_s !== undefined){
let data10 = data.key_ttl_s;
if((!(((typeof data10 == "number") && (!(data10 % 1) && !isNaN(data10))) && (isFinite(data10)))) && (typeof data10 !== "string")){
const err23 = {instancePath:instancePath+"/key_ttl_s",schemaPath:"#/properties/key_ttl_s/type",keyword:"type",params:{type: schema42.properties.key_ttl_s.type},message:"must be integer,string",schema:schema42.properties.key_ttl_s.type,parentSchema:schema42.properties.key_ttl_s,data:data10};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
const reason5 = checkScalar.call(this, "duration", data10, schema42.properties.key_ttl_s, instancePath+"/key_ttl_s");
if(reason5 !== undefined){
const err24 = {instancePath:instancePath+"/key_ttl_s",schemaPath:"#/properties/key_ttl_s/x-value",keyword:"x-value",params:{},message:reason5,schema:"duration",parentSchema:schema42.properties.key_ttl_s,data:data10};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
}
if(data.max_chunk_uploads_per_update !== undefined){
let data11 = data.max_chunk_uploads_per_update;
if((!(((typeof data11 == "number") && (!(data11 % 1) && !isNaN(data11))) && (isFinite(data11)))) && (typeof data11 !== "string")){
const err25 = {instancePath:instancePath+"/max_chunk_uploads_per_update",schemaPath:"#/properties/max_chunk_uploads_per_update/type",keyword:"type",params:{type: schema42.properties.max_chunk_uploads_per_update.type},message:"must be integer,string",schema:schema42.properties.max_chunk_uploads_per_update.type,parentSchema:schema42.properties.max_chunk_uploads_per_update,data:data11};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
const reason6 = checkScalar.call(this, "count", data11, schema42.properties.max_chunk_uploads_per_update, instancePath+"/max_chunk_uploads_per_update");
if(reason6 !== undefined){
const err26 = {instancePath:instancePath+"/max_chunk_uploads_per_update",schemaPath:"#/properties/max_chunk_uploads_per_update/x-value",keyword:"x-value",params:{},message:reason6,schema:"count",parentSchema:schema42.properties.max_chunk_uploads_per_update,data:data11};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
if((typeof data11 == "number") && (isFinite(data11))){
if(data11 < 0 || isNaN(data11)){
const err27 = {instancePath:instancePath+"/max_chunk_uploads_per_update",schemaPath:"#/properties/max_chunk_uploads_per_update/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema42.properties.max_chunk_uploads_per_update,data:data11};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
}
}
if(data.scan_count !== undefined){
let data12 = data.scan_count;
if((!(((typeof data12 == "number") && (!(data12 % 1) && !isNaN(data12))) && (isFinite(data12)))) && (typeof data12 !== "string")){
const err28 = {instancePath:instancePath+"/scan_count",schemaPath:"#/properties/scan_count/type",keyword:"type",params:{type: schema42.properties.scan_count.type},message:"must be integer,string",schema:schema42.properties.scan_count.type,parentSchema:schema42.properties.scan_count,data:data12};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
const reason7 = checkScalar.call(this, "count", data12, schema42.properties.scan_count, instancePath+"/scan_count");
if(reason7 !== undefined){
const err29 = {instancePath:instancePath+"/scan_count",schemaPath:"#/properties/scan_count/x-value",keyword:"x-value",params:{},message:reason7,schema:"count",parentSchema:schema42.properties.scan_count,data:data12};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
if((typeof data12 == "number") && (isFinite(data12))){
if(data12 < 0 || isNaN(data12)){
const err30 = {instancePath:instancePath+"/scan_count",schemaPath:"#/properties/scan_count/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema42.properties.scan_count,data:data12};
if(vErrors === null){
vErrors = [err30];
}
else {
vErrors.push(err30);
}
errors++;
}
}
}
if(data.max_client_permits !== undefined){
let data13 = data.max_client_permits;
if((!(((typeof data13 == "number") && (!(data13 % 1) && !isNaN(data13))) && (isFinite(data13)))) && (typeof data13 !== "string")){
const err31 = {instancePath:instancePath+"/max_client_permits",schemaPath:"#/properties/max_client_permits/type",keyword:"type",params:{type: schema42.properties.max_client_permits.type},message:"must be integer,string",schema:schema42.properties.max_client_permits.type,parentSchema:schema42.properties.max_client_permits,data:data13};
if(vErrors === null){
vErrors = [err31];
}
else {
vErrors.push(err31);
}
errors++;
}
const reason8 = checkScalar.call(this, "count", data13, schema42.properties.max_client_permits, instancePath+"/max_client_permits");
if(reason8 !== undefined){
const err32 = {instancePath:instancePath+"/max_client_permits",schemaPath:"#/properties/max_client_permits/x-value",keyword:"x-value",params:{},message:reason8,schema:"count",parentSchema:schema42.properties.max_client_permits,data:data13};
if(vErrors === null){
vErrors = [err32];
}
else {
vErrors.push(err32);
}
errors++;
}
if((typeof data13 == "number") && (isFinite(data13))){
if(data13 < 0 || isNaN(data13)){
const err33 = {instancePath:instancePath+"/max_client_permits",schemaPath:"#/properties/max_client_permits/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema42.properties.max_client_permits,data:data13};
if(vErrors === null){
vErrors = [err33];
}
else {
vErrors.push(err33);
}
errors++;
}
}
}
if(data.max_count_per_cursor !== undefined){
let data14 = data.max_count_per_cursor;
if((!(((typeof data14 == "number") && (!(data14 % 1) && !isNaN(data14))) && (isFinite(data14)))) && (typeof data14 !== "string")){
const err34 = {instancePath:instancePath+"/max_count_per_cursor",schemaPath:"#/properties/max_count_per_cursor/type",keyword:"type",params:{type: schema42.properties.max_count_per_cursor.type},message:"must be integer,string",schema:schema42.properties.max_count_per_cursor.type,parentSchema:schema42.properties.max_count_per_cursor,data:data14};
if(vErrors === null){
vErrors = [err34];
}
else {
vErrors.push(err34);
}
errors++;
}
const reason9 = checkScalar.call(this, "count", data14, schema42.properties.max_count_per_cursor, instancePath+"/max_count_per_cursor");
if(reason9 !== undefined){
const err35 = {instancePath:instancePath+"/max_count_per_cursor",schemaPath:"#/properties/max_count_per_cursor/x-value",keyword:"x-value",params:{},message:reason9,schema:"count",parentSchema:schema42.properties.max_count_per_cursor,data:data14};
if(vErrors === null){
vErrors = [err35];
}
else {
vErrors.push(err35);
}
errors++;
}
if((typeof data14 == "number") && (isFinite(data14))){
if(data14 < 0 || isNaN(data14)){
const err36 = {instancePath:instancePath+"/max_count_per_cursor",schemaPath:"#/properties/max_count_per_cursor/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema42.properties.max_count_per_cursor,data:data14};
if(vErrors === null){
vErrors = [err36];
}
else {
vErrors.push(err36);
}
errors++;
}
}
}
if(data.retry !== undefined){
if(!(validate94.call(this, data.retry, {instancePath:instancePath+"/retry",parentData:data,parentDataProperty:"retry",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate94.errors);
errors = vErrors.length;
}
}
if(data.connection_timeout_s !== undefined){
let data16 = data.connection_timeout_s;
if((!(((typeof data16 == "number") && (!(data16 % 1) && !isNaN(data16))) && (isFinite(data16)))) && (typeof data16 !== "string")){
const err37 = {instancePath:instancePath+"/connection_timeout_s",schemaPath:"#/properties/connection_timeout_s/type",keyword:"type",params:{type: schema42.properties.connection_timeout_s.type},message:"must be integer,string",schema:schema42.properties.connection_timeout_s.type,parentSchema:schema42.properties.connection_timeout_s,data:data16};
if(vErrors === null){
vErrors = [err37];
}
else {
vErrors.push(err37);
}
errors++;
}
const reason10 = checkScalar.call(this, "count", data16, schema42.properties.connection_timeout_s, instancePath+"/connection_timeout_s");
if(reason10 !== undefined){
const err38 = {instancePath:instancePath+"/connection_timeout_s",schemaPath:"#/properties/connection_timeout_s/x-value",keyword:"x-value",params:{},message:reason10,schema:"count",parentSchema:schema42.properties.connection_timeout_s,data:data16};
if(vErrors === null){
vErrors = [err38];
}
else {
vErrors.push(err38);
}
errors++;
}
if((typeof data16 == "number") && (isFinite(data16))){
if(data16 < 0 || isNaN(data16)){
const err39 = {instancePath:instancePath+"/connection_timeout_s",schemaPath:"#/properties/connection_timeout_s/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema42.properties.connection_timeout_s,data:data16};
if(vErrors === null){
vErrors = [err39];
}
else {
vErrors.push(err39);
}
errors++;
}
}
}
}
else {
const err40 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema42.type,parentSchema:schema42,data};
if(vErrors === null){
vErrors = [err40];
}
else {
vErrors.push(err40);
}
errors++;
}
validate97.errors = vErrors;
return errors === 0;
}
validate97.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema43 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/store/experimental_mongo.json","title":"experimental_mongo","description":"Keeps blobs as documents of MongoDB, large ones in chunks. For machines that share a cache and already have such a server.","type":"object","properties":{"connection_string":{"description":"Address and credentials of the database: `mongodb://[username:password@]host[:port][,...][/?options]` or `mongodb+srv://`. The keys here override its options for times and retries, and for the write concern if `write_concern_w` is set.","type":"string"},"database":{"description":"Name of the database.","type":"string","default":"remexec","x-nativelink-default":"`'nativelink'`: write that to use a database of it"},"cas_collection":{"description":"Collection of the blobs. Chunks of large blobs are in a second collection with the suffix `.chunks`; a third, `.orphans`, lists chunks that belong to no blob.","type":"string","default":"cas"},"scheduler_collection":{"description":"Collection of a scheduler.","type":"string","x-ignored":"it is for schedulers that keep their state in MongoDB, and none here does"},"key_prefix":{"description":"Prefix of every key. Stores that share a collection need different prefixes, above all an action cache and a CAS.","type":"string","default":""},"read_chunk_size":{"description":"Blobs of up to this many bytes are one document; larger ones are split into documents of this size; at most 15 MiB.","type":["integer","string"],"x-value":"size","default":65536,"x-zero-is-default":true},"max_concurrent_uploads":{"description":"No longer used.","deprecated":true,"x-ignored":true},"connection_timeout_ms":{"description":"Milliseconds that connecting may take, including finding a server that accepts writes.","type":["integer","string"],"x-value":"count","minimum":0,"default":3000,"x-zero-is-default":true},"command_timeout_ms":{"description":"Milliseconds a command may take.","type":["integer","string"],"x-value":"count","minimum":0,"default":10000,"x-zero-is-default":true},"enable_change_streams":{"description":"Watch the collection for changes.","type":["boolean","string"],"x-value":"bool","x-ignored":"it is for schedulers that keep their state in MongoDB, and none here does"},"write_concern_w":{"description":"How many servers of a replica set must have a blob before it counts as written: a number, or `majority`. Left out: the default of the server.","type":"string"},"write_concern_j":{"description":"Whether they must have it in their journals; needs `write_concern_w`.","type":["boolean","string"],"x-value":"bool"},"write_concern_timeout_ms":{"description":"Milliseconds after which this fails; needs `write_concern_w`.","type":["integer","string"],"x-value":"count","minimum":0},"max_requests":{"description":"Most requests at one time. Left out or 0: no limit.","type":["integer","string"],"x-value":"count","minimum":0}},"additionalProperties":false,"required":["connection_string"]};

function validate100(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/store/experimental_mongo.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate100.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.connection_string === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "connection_string"},message:"must have required property '"+"connection_string"+"'",schema:schema43.required,parentSchema:schema43,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(func1.call(schema43.properties, key0))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema43,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.connection_string !== undefined){
let data0 = data.connection_string;
if(typeof data0 !== "string"){
const err2 = {instancePath:instancePath+"/connection_string",schemaPath:"#/properties/connection_string/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema43.properties.connection_string.type,parentSchema:schema43.properties.connection_string,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.database !== undefined){
let data1 = data.database;
if(typeof data1 !== "string"){
const err3 = {instancePath:instancePath+"/database",schemaPath:"#/properties/database/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema43.properties.database.type,parentSchema:schema43.properties.database,data:data1};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.cas_collection !== undefined){
let data2 = data.cas_collection;
if(typeof data2 !== "string"){
const err4 = {instancePath:instancePath+"/cas_collection",schemaPath:"#/properties/cas_collection/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema43.properties.cas_collection.type,parentSchema:schema43.properties.cas_collection,data:data2};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.scheduler_collection !== undefined){
let data3 = data.scheduler_collection;
if(typeof data3 !== "string"){
const err5 = {instancePath:instancePath+"/scheduler_collection",schemaPath:"#/properties/scheduler_collection/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema43.properties.scheduler_collection.type,parentSchema:schema43.properties.scheduler_collection,data:data3};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data.key_prefix !== undefined){
let data4 = data.key_prefix;
if(typeof data4 !== "string"){
const err6 = {instancePath:instancePath+"/key_prefix",schemaPath:"#/properties/key_prefix/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema43.properties.key_prefix.type,parentSchema:schema43.properties.key_prefix,data:data4};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data.read_chunk_size !== undefined){
let data5 = data.read_chunk_size;
if((!(((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5))) && (isFinite(data5)))) && (typeof data5 !== "string")){
const err7 = {instancePath:instancePath+"/read_chunk_size",schemaPath:"#/properties/read_chunk_size/type",keyword:"type",params:{type: schema43.properties.read_chunk_size.type},message:"must be integer,string",schema:schema43.properties.read_chunk_size.type,parentSchema:schema43.properties.read_chunk_size,data:data5};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
const reason0 = checkScalar.call(this, "size", data5, schema43.properties.read_chunk_size, instancePath+"/read_chunk_size");
if(reason0 !== undefined){
const err8 = {instancePath:instancePath+"/read_chunk_size",schemaPath:"#/properties/read_chunk_size/x-value",keyword:"x-value",params:{},message:reason0,schema:"size",parentSchema:schema43.properties.read_chunk_size,data:data5};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
if(data.connection_timeout_ms !== undefined){
let data6 = data.connection_timeout_ms;
if((!(((typeof data6 == "number") && (!(data6 % 1) && !isNaN(data6))) && (isFinite(data6)))) && (typeof data6 !== "string")){
const err9 = {instancePath:instancePath+"/connection_timeout_ms",schemaPath:"#/properties/connection_timeout_ms/type",keyword:"type",params:{type: schema43.properties.connection_timeout_ms.type},message:"must be integer,string",schema:schema43.properties.connection_timeout_ms.type,parentSchema:schema43.properties.connection_timeout_ms,data:data6};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
const reason1 = checkScalar.call(this, "count", data6, schema43.properties.connection_timeout_ms, instancePath+"/connection_timeout_ms");
if(reason1 !== undefined){
const err10 = {instancePath:instancePath+"/connection_timeout_ms",schemaPath:"#/properties/connection_timeout_ms/x-value",keyword:"x-value",params:{},message:reason1,schema:"count",parentSchema:schema43.properties.connection_timeout_ms,data:data6};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
if((typeof data6 == "number") && (isFinite(data6))){
if(data6 < 0 || isNaN(data6)){
const err11 = {instancePath:instancePath+"/connection_timeout_ms",schemaPath:"#/properties/connection_timeout_ms/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema43.properties.connection_timeout_ms,data:data6};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
}
if(data.command_timeout_ms !== undefined){
let data7 = data.command_timeout_ms;
if((!(((typeof data7 == "number") && (!(data7 % 1) && !isNaN(data7))) && (isFinite(data7)))) && (typeof data7 !== "string")){
const err12 = {instancePath:instancePath+"/command_timeout_ms",schemaPath:"#/properties/command_timeout_ms/type",keyword:"type",params:{type: schema43.properties.command_timeout_ms.type},message:"must be integer,string",schema:schema43.properties.command_timeout_ms.type,parentSchema:schema43.properties.command_timeout_ms,data:data7};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
const reason2 = checkScalar.call(this, "count", data7, schema43.properties.command_timeout_ms, instancePath+"/command_timeout_ms");
if(reason2 !== undefined){
const err13 = {instancePath:instancePath+"/command_timeout_ms",schemaPath:"#/properties/command_timeout_ms/x-value",keyword:"x-value",params:{},message:reason2,schema:"count",parentSchema:schema43.properties.command_timeout_ms,data:data7};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
if((typeof data7 == "number") && (isFinite(data7))){
if(data7 < 0 || isNaN(data7)){
const err14 = {instancePath:instancePath+"/command_timeout_ms",schemaPath:"#/properties/command_timeout_ms/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema43.properties.command_timeout_ms,data:data7};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
}
if(data.enable_change_streams !== undefined){
let data8 = data.enable_change_streams;
if((typeof data8 !== "boolean") && (typeof data8 !== "string")){
const err15 = {instancePath:instancePath+"/enable_change_streams",schemaPath:"#/properties/enable_change_streams/type",keyword:"type",params:{type: schema43.properties.enable_change_streams.type},message:"must be boolean,string",schema:schema43.properties.enable_change_streams.type,parentSchema:schema43.properties.enable_change_streams,data:data8};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
const reason3 = checkScalar.call(this, "bool", data8, schema43.properties.enable_change_streams, instancePath+"/enable_change_streams");
if(reason3 !== undefined){
const err16 = {instancePath:instancePath+"/enable_change_streams",schemaPath:"#/properties/enable_change_streams/x-value",keyword:"x-value",params:{},message:reason3,schema:"bool",parentSchema:schema43.properties.enable_change_streams,data:data8};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
}
if(data.write_concern_w !== undefined){
let data9 = data.write_concern_w;
if(typeof data9 !== "string"){
const err17 = {instancePath:instancePath+"/write_concern_w",schemaPath:"#/properties/write_concern_w/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema43.properties.write_concern_w.type,parentSchema:schema43.properties.write_concern_w,data:data9};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
}
if(data.write_concern_j !== undefined){
let data10 = data.write_concern_j;
if((typeof data10 !== "boolean") && (typeof data10 !== "string")){
const err18 = {instancePath:instancePath+"/write_concern_j",schemaPath:"#/properties/write_concern_j/type",keyword:"type",params:{type: schema43.properties.write_concern_j.type},message:"must be boolean,string",schema:schema43.properties.write_concern_j.type,parentSchema:schema43.properties.write_concern_j,data:data10};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
const reason4 = checkScalar.call(this, "bool", data10, schema43.properties.write_concern_j, instancePath+"/write_concern_j");
if(reason4 !== undefined){
const err19 = {instancePath:instancePath+"/write_concern_j",schemaPath:"#/properties/write_concern_j/x-value",keyword:"x-value",params:{},message:reason4,schema:"bool",parentSchema:schema43.properties.write_concern_j,data:data10};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
}
if(data.write_concern_timeout_ms !== undefined){
let data11 = data.write_concern_timeout_ms;
if((!(((typeof data11 == "number") && (!(data11 % 1) && !isNaN(data11))) && (isFinite(data11)))) && (typeof data11 !== "string")){
const err20 = {instancePath:instancePath+"/write_concern_timeout_ms",schemaPath:"#/properties/write_concern_timeout_ms/type",keyword:"type",params:{type: schema43.properties.write_concern_timeout_ms.type},message:"must be integer,string",schema:schema43.properties.write_concern_timeout_ms.type,parentSchema:schema43.properties.write_concern_timeout_ms,data:data11};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
const reason5 = checkScalar.call(this, "count", data11, schema43.properties.write_concern_timeout_ms, instancePath+"/write_concern_timeout_ms");
if(reason5 !== undefined){
const err21 = {instancePath:instancePath+"/write_concern_timeout_ms",schemaPath:"#/properties/write_concern_timeout_ms/x-value",keyword:"x-value",params:{},message:reason5,schema:"count",parentSchema:schema43.properties.write_concern_timeout_ms,data:data11};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
if((typeof data11 == "number") && (isFinite(data11))){
if(data11 < 0 || isNaN(data11)){
const err22 = {instancePath:instancePath+"/write_concern_timeout_ms",schemaPath:"#/properties/write_concern_timeout_ms/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema43.properties.write_concern_timeout_ms,data:data11};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
}
}
if(data.max_requests !== undefined){
let data12 = data.max_requests;
if((!(((typeof data12 == "number") && (!(data12 % 1) && !isNaN(data12))) && (isFinite(data12)))) && (typeof data12 !== "string")){
const err23 = {instancePath:instancePath+"/max_requests",schemaPath:"#/properties/max_requests/type",keyword:"type",params:{type: schema43.properties.max_requests.type},message:"must be integer,string",schema:schema43.properties.max_requests.type,parentSchema:schema43.properties.max_requests,data:data12};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
const reason6 = checkScalar.call(this, "count", data12, schema43.properties.max_requests, instancePath+"/max_requests");
if(reason6 !== undefined){
const err24 = {instancePath:instancePath+"/max_requests",schemaPath:"#/properties/max_requests/x-value",keyword:"x-value",params:{},message:reason6,schema:"count",parentSchema:schema43.properties.max_requests,data:data12};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
if((typeof data12 == "number") && (isFinite(data12))){
if(data12 < 0 || isNaN(data12)){
const err25 = {instancePath:instancePath+"/max_requests",schemaPath:"#/properties/max_requests/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema43.properties.max_requests,data:data12};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
}
}
}
else {
const err26 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema43.type,parentSchema:schema43,data};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
validate100.errors = vErrors;
return errors === 0;
}
validate100.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema44 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/store/experimental_cloud_object_store.json","title":"experimental_cloud_object_store","description":"Keeps each blob as an object in a bucket. Credentials come from the default sources of the provider's library, unless keys here give them. Give an S3 bucket a lifecycle rule that aborts incomplete multipart uploads after a day: if an answer is lost or the process killed, nothing else removes such an upload.","type":"object","properties":{"provider":{"description":"The provider; it decides which of the other fields apply.","type":"string","enum":["aws","gcs","azure","ontap","r2","oci"]},"region":{"description":"Region (aws, oci). Left out with aws: `AWS_REGION` or the profile.","type":"string"},"bucket":{"description":"Bucket (all but azure, whose word is `container`).","type":"string"},"resumable_chunk_size":{"description":"Bytes of one part of a resumable upload (gcs), rounded up to 256 KiB.","type":["integer","string"],"x-value":"size","default":2000000,"x-zero-is-default":true},"authentication_required":{"description":"Refuse to start without credentials (gcs); otherwise requests are sent without any if none are found.","type":["boolean","string"],"x-value":"bool","default":false},"connection_timeout_s":{"description":"Seconds connecting may take (gcs).","type":["integer","string"],"x-value":"duration","default":3,"x-zero-is-default":true},"read_timeout_s":{"description":"Seconds without progress after which a read fails (gcs).","type":["integer","string"],"x-value":"duration","default":3,"x-zero-is-default":true},"account_name":{"description":"Storage account (azure).","type":"string"},"container":{"description":"Container (azure).","type":"string"},"sas_url":{"description":"Signed address of the account or the container, instead of other credentials (azure).","type":"string"},"endpoint":{"description":"Address of the service. Required for ontap; elsewhere it replaces the provider's own address, for another server with the same protocol. Left out or empty with aws: `AWS_ENDPOINT_URL_S3`.","type":"string"},"vserver_name":{"description":"Virtual server, used as the region (ontap).","type":"string"},"root_certificates":{"description":"PEM file of the authorities to trust instead of the system's (ontap).","type":"string","x-path":true,"x-public":true},"account_id":{"description":"Account, part of the address (r2).","type":"string"},"namespace":{"description":"Namespace, part of the address (oci).","type":"string"},"access_key_id":{"description":"Key id (r2, oci). Left out: the default sources of Amazon's library, `AWS_ACCESS_KEY_ID` first.","type":"string"},"secret_access_key":{"description":"Secret of the key (r2, oci); goes with `access_key_id`.","type":"string"},"key_prefix":{"description":"Prefix of every key, without a separator. Different prefixes keep content separate.","type":"string","default":""},"retry":{"description":"How failed calls are retried.","$ref":"https://remexec.invalid/schema/shared/retry.json","default":{}},"consider_expired_after_s":{"description":"Objects older than this many seconds count as missing, so that a rule of the bucket may delete them; 0 means never.","type":["integer","string"],"x-value":"duration","default":0},"lifecycle_days":{"description":"The age in days at which a rule of the bucket deletes objects; 0: there is no such rule, or nothing is promised. The store then keeps what is used: objects that are read, found by FindMissingBlobs or named by a served action cache hit are made young again once half of this age has passed, by copying them onto themselves inside the bucket (azure: by setting their metadata). So a quarter of this age is promised (`retention` of other stores). The credentials need the right to write. A rule for azure must count days since modification, not since creation. Versioning or soft delete would keep each copy.","type":["integer","string"],"x-value":"count","minimum":0,"maximum":3650,"default":0},"max_retry_buffer_per_request":{"description":"Largest body of one upload request, which is held in memory for a retry; larger blobs are sent in parts of this size. At least the provider's minimum for a part (5 MiB with S3). Left out: 5 MB, with ontap 20 MB. With gcs the part size is `resumable_chunk_size`.","type":["integer","string"],"x-value":"size"},"multipart_max_concurrent_uploads":{"description":"Parts in flight at one time, of all uploads together; each takes the memory of a part.","type":["integer","string"],"x-value":"count","minimum":0,"default":10,"x-zero-is-default":true},"insecure_allow_http":{"description":"Allow an address with `http://`.","type":["boolean","string"],"x-value":"bool","default":false},"disable_http2":{"description":"Use HTTP/1.1 only, as the libraries of the providers do anyway.","type":["boolean","string"],"x-value":"bool","default":false,"x-ignored":true,"x-always-so":true}},"additionalProperties":false,"required":["provider"]};

function validate102(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/store/experimental_cloud_object_store.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate102.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.provider === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "provider"},message:"must have required property '"+"provider"+"'",schema:schema44.required,parentSchema:schema44,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(func1.call(schema44.properties, key0))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema44,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.provider !== undefined){
let data0 = data.provider;
if(typeof data0 !== "string"){
const err2 = {instancePath:instancePath+"/provider",schemaPath:"#/properties/provider/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema44.properties.provider.type,parentSchema:schema44.properties.provider,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(!((((((data0 === "aws") || (data0 === "gcs")) || (data0 === "azure")) || (data0 === "ontap")) || (data0 === "r2")) || (data0 === "oci"))){
const err3 = {instancePath:instancePath+"/provider",schemaPath:"#/properties/provider/enum",keyword:"enum",params:{allowedValues: schema44.properties.provider.enum},message:"must be equal to one of the allowed values",schema:schema44.properties.provider.enum,parentSchema:schema44.properties.provider,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.region !== undefined){
let data1 = data.region;
if(typeof data1 !== "string"){
const err4 = {instancePath:instancePath+"/region",schemaPath:"#/properties/region/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema44.properties.region.type,parentSchema:schema44.properties.region,data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.bucket !== undefined){
let data2 = data.bucket;
if(typeof data2 !== "string"){
const err5 = {instancePath:instancePath+"/bucket",schemaPath:"#/properties/bucket/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema44.properties.bucket.type,parentSchema:schema44.properties.bucket,data:data2};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data.resumable_chunk_size !== undefined){
let data3 = data.resumable_chunk_size;
if((!(((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3))) && (isFinite(data3)))) && (typeof data3 !== "string")){
const err6 = {instancePath:instancePath+"/resumable_chunk_size",schemaPath:"#/properties/resumable_chunk_size/type",keyword:"type",params:{type: schema44.properties.resumable_chunk_size.type},message:"must be integer,string",schema:schema44.properties.resumable_chunk_size.type,parentSchema:schema44.properties.resumable_chunk_size,data:data3};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
const reason0 = checkScalar.call(this, "size", data3, schema44.properties.resumable_chunk_size, instancePath+"/resumable_chunk_size");
if(reason0 !== undefined){
const err7 = {instancePath:instancePath+"/resumable_chunk_size",schemaPath:"#/properties/resumable_chunk_size/x-value",keyword:"x-value",params:{},message:reason0,schema:"size",parentSchema:schema44.properties.resumable_chunk_size,data:data3};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
if(data.authentication_required !== undefined){
let data4 = data.authentication_required;
if((typeof data4 !== "boolean") && (typeof data4 !== "string")){
const err8 = {instancePath:instancePath+"/authentication_required",schemaPath:"#/properties/authentication_required/type",keyword:"type",params:{type: schema44.properties.authentication_required.type},message:"must be boolean,string",schema:schema44.properties.authentication_required.type,parentSchema:schema44.properties.authentication_required,data:data4};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
const reason1 = checkScalar.call(this, "bool", data4, schema44.properties.authentication_required, instancePath+"/authentication_required");
if(reason1 !== undefined){
const err9 = {instancePath:instancePath+"/authentication_required",schemaPath:"#/properties/authentication_required/x-value",keyword:"x-value",params:{},message:reason1,schema:"bool",parentSchema:schema44.properties.authentication_required,data:data4};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
if(data.connection_timeout_s !== undefined){
let data5 = data.connection_timeout_s;
if((!(((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5))) && (isFinite(data5)))) && (typeof data5 !== "string")){
const err10 = {instancePath:instancePath+"/connection_timeout_s",schemaPath:"#/properties/connection_timeout_s/type",keyword:"type",params:{type: schema44.properties.connection_timeout_s.type},message:"must be integer,string",schema:schema44.properties.connection_timeout_s.type,parentSchema:schema44.properties.connection_timeout_s,data:data5};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
const reason2 = checkScalar.call(this, "duration", data5, schema44.properties.connection_timeout_s, instancePath+"/connection_timeout_s");
if(reason2 !== undefined){
const err11 = {instancePath:instancePath+"/connection_timeout_s",schemaPath:"#/properties/connection_timeout_s/x-value",keyword:"x-value",params:{},message:reason2,schema:"duration",parentSchema:schema44.properties.connection_timeout_s,data:data5};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
if(data.read_timeout_s !== undefined){
let data6 = data.read_timeout_s;
if((!(((typeof data6 == "number") && (!(data6 % 1) && !isNaN(data6))) && (isFinite(data6)))) && (typeof data6 !== "string")){
const err12 = {instancePath:instancePath+"/read_timeout_s",schemaPath:"#/properties/read_timeout_s/type",keyword:"type",params:{type: schema44.properties.read_timeout_s.type},message:"must be integer,string",schema:schema44.properties.read_timeout_s.type,parentSchema:schema44.properties.read_timeout_s,data:data6};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
const reason3 = checkScalar.call(this, "duration", data6, schema44.properties.read_timeout_s, instancePath+"/read_timeout_s");
if(reason3 !== undefined){
const err13 = {instancePath:instancePath+"/read_timeout_s",schemaPath:"#/properties/read_timeout_s/x-value",keyword:"x-value",params:{},message:reason3,schema:"duration",parentSchema:schema44.properties.read_timeout_s,data:data6};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
}
if(data.account_name !== undefined){
let data7 = data.account_name;
if(typeof data7 !== "string"){
const err14 = {instancePath:instancePath+"/account_name",schemaPath:"#/properties/account_name/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema44.properties.account_name.type,parentSchema:schema44.properties.account_name,data:data7};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
if(data.container !== undefined){
let data8 = data.container;
if(typeof data8 !== "string"){
const err15 = {instancePath:instancePath+"/container",schemaPath:"#/properties/container/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema44.properties.container.type,parentSchema:schema44.properties.container,data:data8};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
if(data.sas_url !== undefined){
let data9 = data.sas_url;
if(typeof data9 !== "string"){
const err16 = {instancePath:instancePath+"/sas_url",schemaPath:"#/properties/sas_url/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema44.properties.sas_url.type,parentSchema:schema44.properties.sas_url,data:data9};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
}
if(data.endpoint !== undefined){
let data10 = data.endpoint;
if(typeof data10 !== "string"){
const err17 = {instancePath:instancePath+"/endpoint",schemaPath:"#/properties/endpoint/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema44.properties.endpoint.type,parentSchema:schema44.properties.endpoint,data:data10};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
}
if(data.vserver_name !== undefined){
let data11 = data.vserver_name;
if(typeof data11 !== "string"){
const err18 = {instancePath:instancePath+"/vserver_name",schemaPath:"#/properties/vserver_name/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema44.properties.vserver_name.type,parentSchema:schema44.properties.vserver_name,data:data11};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
}
if(data.root_certificates !== undefined){
let data12 = data.root_certificates;
if(typeof data12 !== "string"){
const err19 = {instancePath:instancePath+"/root_certificates",schemaPath:"#/properties/root_certificates/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema44.properties.root_certificates.type,parentSchema:schema44.properties.root_certificates,data:data12};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
}
if(data.account_id !== undefined){
let data13 = data.account_id;
if(typeof data13 !== "string"){
const err20 = {instancePath:instancePath+"/account_id",schemaPath:"#/properties/account_id/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema44.properties.account_id.type,parentSchema:schema44.properties.account_id,data:data13};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
}
if(data.namespace !== undefined){
let data14 = data.namespace;
if(typeof data14 !== "string"){
const err21 = {instancePath:instancePath+"/namespace",schemaPath:"#/properties/namespace/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema44.properties.namespace.type,parentSchema:schema44.properties.namespace,data:data14};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
}
if(data.access_key_id !== undefined){
let data15 = data.access_key_id;
if(typeof data15 !== "string"){
const err22 = {instancePath:instancePath+"/access_key_id",schemaPath:"#/properties/access_key_id/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema44.properties.access_key_id.type,parentSchema:schema44.properties.access_key_id,data:data15};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
}
if(data.secret_access_key !== undefined){
let data16 = data.secret_access_key;
if(typeof data16 !== "string"){
const err23 = {instancePath:instancePath+"/secret_access_key",schemaPath:"#/properties/secret_access_key/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema44.properties.secret_access_key.type,parentSchema:schema44.properties.secret_access_key,data:data16};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
}
if(data.key_prefix !== undefined){
let data17 = data.key_prefix;
if(typeof data17 !== "string"){
const err24 = {instancePath:instancePath+"/key_prefix",schemaPath:"#/properties/key_prefix/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema44.properties.key_prefix.type,parentSchema:schema44.properties.key_prefix,data:data17};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
}
if(data.retry !== undefined){
if(!(validate94.call(this, data.retry, {instancePath:instancePath+"/retry",parentData:data,parentDataProperty:"retry",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate94.errors);
errors = vErrors.length;
}
}
if(data.consider_expired_after_s !== undefined){
let data19 = data.consider_expired_after_s;
if((!(((typeof data19 == "number") && (!(data19 % 1) && !isNaN(data19))) && (isFinite(data19)))) && (typeof data19 !== "string")){
const err25 = {instancePath:instancePath+"/consider_expired_after_s",schemaPath:"#/properties/consider_expired_after_s/type",keyword:"type",params:{type: schema44.properties.consider_expired_after_s.type},message:"must be integer,string",schema:schema44.properties.consider_expired_after_s.type,parentSchema:schema44.properties.consider_expired_after_s,data:data19};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
const reason4 = checkScalar.call(this, "duration", data19, schema44.properties.consider_expired_after_s, instancePath+"/consider_expired_after_s");
if(reason4 !== undefined){
const err26 = {instancePath:instancePath+"/consider_expired_after_s",schemaPath:"#/properties/consider_expired_after_s/x-value",keyword:"x-value",params:{},message:reason4,schema:"duration",parentSchema:schema44.properties.consider_expired_after_s,data:data19};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
}
if(data.lifecycle_days !== undefined){
let data20 = data.lifecycle_days;
if((!(((typeof data20 == "number") && (!(data20 % 1) && !isNaN(data20))) && (isFinite(data20)))) && (typeof data20 !== "string")){
const err27 = {instancePath:instancePath+"/lifecycle_days",schemaPath:"#/properties/lifecycle_days/type",keyword:"type",params:{type: schema44.properties.lifecycle_days.type},message:"must be integer,string",schema:schema44.properties.lifecycle_days.type,parentSchema:schema44.properties.lifecycle_days,data:data20};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
const reason5 = checkScalar.call(this, "count", data20, schema44.properties.lifecycle_days, instancePath+"/lifecycle_days");
if(reason5 !== undefined){
const err28 = {instancePath:instancePath+"/lifecycle_days",schemaPath:"#/properties/lifecycle_days/x-value",keyword:"x-value",params:{},message:reason5,schema:"count",parentSchema:schema44.properties.lifecycle_days,data:data20};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
if((typeof data20 == "number") && (isFinite(data20))){
if(data20 > 3650 || isNaN(data20)){
const err29 = {instancePath:instancePath+"/lifecycle_days",schemaPath:"#/properties/lifecycle_days/maximum",keyword:"maximum",params:{comparison: "<=", limit: 3650},message:"must be <= 3650",schema:3650,parentSchema:schema44.properties.lifecycle_days,data:data20};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
if(data20 < 0 || isNaN(data20)){
const err30 = {instancePath:instancePath+"/lifecycle_days",schemaPath:"#/properties/lifecycle_days/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema44.properties.lifecycle_days,data:data20};
if(vErrors === null){
vErrors = [err30];
}
else {
vErrors.push(err30);
}
errors++;
}
}
}
if(data.max_retry_buffer_per_request !== undefined){
let data21 = data.max_retry_buffer_per_request;
if((!(((typeof data21 == "number") && (!(data21 % 1) && !isNaN(data21))) && (isFinite(data21)))) && (typeof data21 !== "string")){
const err31 = {instancePath:instancePath+"/max_retry_buffer_per_request",schemaPath:"#/properties/max_retry_buffer_per_request/type",keyword:"type",params:{type: schema44.properties.max_retry_buffer_per_request.type},message:"must be integer,string",schema:schema44.properties.max_retry_buffer_per_request.type,parentSchema:schema44.properties.max_retry_buffer_per_request,data:data21};
if(vErrors === null){
vErrors = [err31];
}
else {
vErrors.push(err31);
}
errors++;
}
const reason6 = checkScalar.call(this, "size", data21, schema44.properties.max_retry_buffer_per_request, instancePath+"/max_retry_buffer_per_request");
if(reason6 !== undefined){
const err32 = {instancePath:instancePath+"/max_retry_buffer_per_request",schemaPath:"#/properties/max_retry_buffer_per_request/x-value",keyword:"x-value",params:{},message:reason6,schema:"size",parentSchema:schema44.properties.max_retry_buffer_per_request,data:data21};
if(vErrors === null){
vErrors = [err32];
}
else {
vErrors.push(err32);
}
errors++;
}
}
if(data.multipart_max_concurrent_uploads !== undefined){
let data22 = data.multipart_max_concurrent_uploads;
if((!(((typeof data22 == "number") && (!(data22 % 1) && !isNaN(data22))) && (isFinite(data22)))) && (typeof data22 !== "string")){
const err33 = {instancePath:instancePath+"/multipart_max_concurrent_uploads",schemaPath:"#/properties/multipart_max_concurrent_uploads/type",keyword:"type",params:{type: schema44.properties.multipart_max_concurrent_uploads.type},message:"must be integer,string",schema:schema44.properties.multipart_max_concurrent_uploads.type,parentSchema:schema44.properties.multipart_max_concurrent_uploads,data:data22};
if(vErrors === null){
vErrors = [err33];
}
else {
vErrors.push(err33);
}
errors++;
}
const reason7 = checkScalar.call(this, "count", data22, schema44.properties.multipart_max_concurrent_uploads, instancePath+"/multipart_max_concurrent_uploads");
if(reason7 !== undefined){
const err34 = {instancePath:instancePath+"/multipart_max_concurrent_uploads",schemaPath:"#/properties/multipart_max_concurrent_uploads/x-value",keyword:"x-value",params:{},message:reason7,schema:"count",parentSchema:schema44.properties.multipart_max_concurrent_uploads,data:data22};
if(vErrors === null){
vErrors = [err34];
}
else {
vErrors.push(err34);
}
errors++;
}
if((typeof data22 == "number") && (isFinite(data22))){
if(data22 < 0 || isNaN(data22)){
const err35 = {instancePath:instancePath+"/multipart_max_concurrent_uploads",schemaPath:"#/properties/multipart_max_concurrent_uploads/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema44.properties.multipart_max_concurrent_uploads,data:data22};
if(vErrors === null){
vErrors = [err35];
}
else {
vErrors.push(err35);
}
errors++;
}
}
}
if(data.insecure_allow_http !== undefined){
let data23 = data.insecure_allow_http;
if((typeof data23 !== "boolean") && (typeof data23 !== "string")){
const err36 = {instancePath:instancePath+"/insecure_allow_http",schemaPath:"#/properties/insecure_allow_http/type",keyword:"type",params:{type: schema44.properties.insecure_allow_http.type},message:"must be boolean,string",schema:schema44.properties.insecure_allow_http.type,parentSchema:schema44.properties.insecure_allow_http,data:data23};
if(vErrors === null){
vErrors = [err36];
}
else {
vErrors.push(err36);
}
errors++;
}
const reason8 = checkScalar.call(this, "bool", data23, schema44.properties.insecure_allow_http, instancePath+"/insecure_allow_http");
if(reason8 !== undefined){
const err37 = {instancePath:instancePath+"/insecure_allow_http",schemaPath:"#/properties/insecure_allow_http/x-value",keyword:"x-value",params:{},message:reason8,schema:"bool",parentSchema:schema44.properties.insecure_allow_http,data:data23};
if(vErrors === null){
vErrors = [err37];
}
else {
vErrors.push(err37);
}
errors++;
}
}
if(data.disable_http2 !== undefined){
let data24 = data.disable_http2;
if((typeof data24 !== "boolean") && (typeof data24 !== "string")){
const err38 = {instancePath:instancePath+"/disable_http2",schemaPath:"#/properties/disable_http2/type",keyword:"type",params:{type: schema44.properties.disable_http2.type},message:"must be boolean,string",schema:schema44.properties.disable_http2.type,parentSchema:schema44.properties.disable_http2,data:data24};
if(vErrors === null){
vErrors = [err38];
}
else {
vErrors.push(err38);
}
errors++;
}
const reason9 = checkScalar.call(this, "bool", data24, schema44.properties.disable_http2, instancePath+"/disable_http2");
if(reason9 !== undefined){
const err39 = {instancePath:instancePath+"/disable_http2",schemaPath:"#/properties/disable_http2/x-value",keyword:"x-value",params:{},message:reason9,schema:"bool",parentSchema:schema44.properties.disable_http2,data:data24};
if(vErrors === null){
vErrors = [err39];
}
else {
vErrors.push(err39);
}
errors++;
}
}
}
else {
const err40 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema44.type,parentSchema:schema44,data};
if(vErrors === null){
vErrors = [err40];
}
else {
vErrors.push(err40);
}
errors++;
}
validate102.errors = vErrors;
return errors === 0;
}
validate102.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema45 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/store/experimental_s3_store.json","title":"experimental_s3_store","description":"The older spelling of `experimental_cloud_object_store` with `provider: 'aws'`.","deprecated":true,"x-becomes":"experimental_cloud_object_store","x-becomes-with":{"provider":"aws"},"type":"object","properties":{"region":{"$ref":"https://remexec.invalid/schema/store/experimental_cloud_object_store.json#/properties/region"},"bucket":{"$ref":"https://remexec.invalid/schema/store/experimental_cloud_object_store.json#/properties/bucket"},"endpoint":{"$ref":"https://remexec.invalid/schema/store/experimental_cloud_object_store.json#/properties/endpoint"},"key_prefix":{"$ref":"https://remexec.invalid/schema/store/experimental_cloud_object_store.json#/properties/key_prefix"},"retry":{"$ref":"https://remexec.invalid/schema/store/experimental_cloud_object_store.json#/properties/retry"},"consider_expired_after_s":{"$ref":"https://remexec.invalid/schema/store/experimental_cloud_object_store.json#/properties/consider_expired_after_s"},"lifecycle_days":{"$ref":"https://remexec.invalid/schema/store/experimental_cloud_object_store.json#/properties/lifecycle_days"},"max_retry_buffer_per_request":{"$ref":"https://remexec.invalid/schema/store/experimental_cloud_object_store.json#/properties/max_retry_buffer_per_request"},"multipart_max_concurrent_uploads":{"$ref":"https://remexec.invalid/schema/store/experimental_cloud_object_store.json#/properties/multipart_max_concurrent_uploads"},"insecure_allow_http":{"$ref":"https://remexec.invalid/schema/store/experimental_cloud_object_store.json#/properties/insecure_allow_http"},"disable_http2":{"$ref":"https://remexec.invalid/schema/store/experimental_cloud_object_store.json#/properties/disable_http2"}},"additionalProperties":false};
const schema46 = {"description":"Region (aws, oci). Left out with aws: `AWS_REGION` or the profile.","type":"string"};

function validate106(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate106.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(typeof data !== "string"){
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema46.type,parentSchema:schema46,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
validate106.errors = vErrors;
return errors === 0;
}
validate106.evaluated = {"dynamicProps":false,"dynamicItems":false};

const schema47 = {"description":"Bucket (all but azure, whose word is `container`).","type":"string"};

function validate108(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate108.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(typeof data !== "string"){
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema47.type,parentSchema:schema47,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
validate108.errors = vErrors;
return errors === 0;
}
validate108.evaluated = {"dynamicProps":false,"dynamicItems":false};

const schema48 = {"description":"Address of the service. Required for ontap; elsewhere it replaces the provider's own address, for another server with the same protocol. Left out or empty with aws: `AWS_ENDPOINT_URL_S3`.","type":"string"};

function validate110(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate110.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(typeof data !== "string"){
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema48.type,parentSchema:schema48,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
validate110.errors = vErrors;
return errors === 0;
}
validate110.evaluated = {"dynamicProps":false,"dynamicItems":false};

const schema49 = {"description":"Prefix of every key, without a separator. Different prefixes keep content separate.","type":"string","default":""};

function validate112(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate112.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(typeof data !== "string"){
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema49.type,parentSchema:schema49,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
validate112.errors = vErrors;
return errors === 0;
}
validate112.evaluated = {"dynamicProps":false,"dynamicItems":false};


function validate114(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/shared/retry.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate114.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!(((((key0 === "max_retries") || (key0 === "delay")) || (key0 === "jitter")) || (key0 === "budget_s")) || (key0 === "retry_on_errors"))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema41,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.max_retries !== undefined){
let data0 = data.max_retries;
if((!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))) && (typeof data0 !== "string")){
const err1 = {instancePath:instancePath+"/max_retries",schemaPath:"#/properties/max_retries/type",keyword:"type",params:{type: schema41.properties.max_retries.type},message:"must be integer,string",schema:schema41.properties.max_retries.type,parentSchema:schema41.properties.max_retries,data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
const reason0 = checkScalar.call(this, "count", data0, schema41.properties.max_retries, instancePath+"/max_retries");
if(reason0 !== undefined){
const err2 = {instancePath:instancePath+"/max_retries",schemaPath:"#/properties/max_retries/x-value",keyword:"x-value",params:{},message:reason0,schema:"count",parentSchema:schema41.properties.max_retries,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 < 0 || isNaN(data0)){
const err3 = {instancePath:instancePath+"/max_retries",schemaPath:"#/properties/max_retries/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema41.properties.max_retries,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
}
if(data.delay !== undefined){
let data1 = data.delay;
if((!((typeof data1 == "number") && (isFinite(data1)))) && (typeof data1 !== "string")){
const err4 = {instancePath:instancePath+"/delay",schemaPath:"#/properties/delay/type",keyword:"type",params:{type: schema41.properties.delay.type},message:"must be number,string",schema:schema41.properties.delay.type,parentSchema:schema41.properties.delay,data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
const reason1 = checkScalar.call(this, "number", data1, schema41.properties.delay, instancePath+"/delay");
if(reason1 !== undefined){
const err5 = {instancePath:instancePath+"/delay",schemaPath:"#/properties/delay/x-value",keyword:"x-value",params:{},message:reason1,schema:"number",parentSchema:schema41.properties.delay,data:data1};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if((typeof data1 == "number") && (isFinite(data1))){
if(data1 < 0 || isNaN(data1)){
const err6 = {instancePath:instancePath+"/delay",schemaPath:"#/properties/delay/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema41.properties.delay,data:data1};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
}
if(data.jitter !== undefined){
let data2 = data.jitter;
if((!((typeof data2 == "number") && (isFinite(data2)))) && (typeof data2 !== "string")){
const err7 = {instancePath:instancePath+"/jitter",schemaPath:"#/properties/jitter/type",keyword:"type",params:{type: schema41.properties.jitter.type},message:"must be number,string",schema:schema41.properties.jitter.type,parentSchema:schema41.properties.jitter,data:data2};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
const reason2 = checkScalar.call(this, "number", data2, schema41.properties.jitter, instancePath+"/jitter");
if(reason2 !== undefined){
const err8 = {instancePath:instancePath+"/jitter",schemaPath:"#/properties/jitter/x-value",keyword:"x-value",params:{},message:reason2,schema:"number",parentSchema:schema41.properties.jitter,data:data2};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
if((typeof data2 == "number") && (isFinite(data2))){
if(data2 < 0 || isNaN(data2)){
const err9 = {instancePath:instancePath+"/jitter",schemaPath:"#/properties/jitter/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema41.properties.jitter,data:data2};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
}
if(data.budget_s !== undefined){
let data3 = data.budget_s;
if((!(((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3))) && (isFinite(data3)))) && (typeof data3 !== "string")){
const err10 = {instancePath:instancePath+"/budget_s",schemaPath:"#/properties/budget_s/type",keyword:"type",params:{type: schema41.properties.budget_s.type},message:"must be integer,string",schema:schema41.properties.budget_s.type,parentSchema:schema41.properties.budget_s,data:data3};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
const reason3 = checkScalar.call(this, "duration", data3, schema41.properties.budget_s, instancePath+"/budget_s");
if(reason3 !== undefined){
const err11 = {instancePath:instancePath+"/budget_s",schemaPath:"#/properties/budget_s/x-value",keyword:"x-value",params:{},message:reason3,schema:"duration",parentSchema:schema41.properties.budget_s,data:data3};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
if(data.retry_on_errors !== undefined){
let data4 = data.retry_on_errors;
if(Array.isArray(data4)){
const len0 = data4.length;
for(let i0=0; i0<len0; i0++){
let data5 = data4[i0];
if(typeof data5 !== "string"){
const err12 = {instancePath:instancePath+"/retry_on_errors/" + i0,schemaPath:"#/properties/retry_on_errors/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema41.properties.retry_on_errors.items.type,parentSchema:schema41.properties.retry_on_errors.items,data:data5};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
if(!((((((((((((((((data5 === "Cancelled") || (data5 === "Unknown")) || (data5 === "InvalidArgument")) || (data5 === "DeadlineExceeded")) || (data5 === "NotFound")) || (data5 === "AlreadyExists")) || (data5 === "PermissionDenied")) || (data5 === "ResourceExhausted")) || (data5 === "FailedPrecondition")) || (data5 === "Aborted")) || (data5 === "OutOfRange")) || (data5 === "Unimplemented")) || (data5 === "Internal")) || (data5 === "Unavailable")) || (data5 === "DataLoss")) || (data5 === "Unauthenticated"))){
const err13 = {instancePath:instancePath+"/retry_on_errors/" + i0,schemaPath:"#/properties/retry_on_errors/items/enum",keyword:"enum",params:{allowedValues: schema41.properties.retry_on_errors.items.enum},message:"must be equal to one of the allowed values",schema:schema41.properties.retry_on_errors.items.enum,parentSchema:schema41.properties.retry_on_errors.items,data:data5};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
}
}
else {
const err14 = {instancePath:instancePath+"/retry_on_errors",schemaPath:"#/properties/retry_on_errors/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema41.properties.retry_on_errors.type,parentSchema:schema41.properties.retry_on_errors,data:data4};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
}
else {
const err15 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema41.type,parentSchema:schema41,data};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
validate114.errors = vErrors;
return errors === 0;
}
validate114.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema51 = {"description":"Objects older than this many seconds count as missing, so that a rule of the bucket may delete them; 0 means never.","type":["integer","string"],"x-value":"duration","default":0};

function validate116(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate116.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if((!(((typeof data == "number") && (!(data % 1) && !isNaN(data))) && (isFinite(data)))) && (typeof data !== "string")){
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: schema51.type},message:"must be integer,string",schema:schema51.type,parentSchema:schema51,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
const reason0 = checkScalar.call(this, "duration", data, schema51, instancePath);
if(reason0 !== undefined){
const err1 = {instancePath,schemaPath:"#/x-value",keyword:"x-value",params:{},message:reason0,schema:"duration",parentSchema:schema51,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate116.errors = vErrors;
return errors === 0;
}
validate116.evaluated = {"dynamicProps":false,"dynamicItems":false};

const schema52 = {"description":"The age in days at which a rule of the bucket deletes objects; 0: there is no such rule, or nothing is promised. The store then keeps what is used: objects that are read, found by FindMissingBlobs or named by a served action cache hit are made young again once half of this age has passed, by copying them onto themselves inside the bucket (azure: by setting their metadata). So a quarter of this age is promised (`retention` of other stores). The credentials need the right to write. A rule for azure must count days since modification, not since creation. Versioning or soft delete would keep each copy.","type":["integer","string"],"x-value":"count","minimum":0,"maximum":3650,"default":0};

function validate118(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate118.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if((!(((typeof data == "number") && (!(data % 1) && !isNaN(data))) && (isFinite(data)))) && (typeof data !== "string")){
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: schema52.type},message:"must be integer,string",schema:schema52.type,parentSchema:schema52,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
const reason0 = checkScalar.call(this, "count", data, schema52, instancePath);
if(reason0 !== undefined){
const err1 = {instancePath,schemaPath:"#/x-value",keyword:"x-value",params:{},message:reason0,schema:"count",parentSchema:schema52,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if((typeof data == "number") && (isFinite(data))){
if(data > 3650 || isNaN(data)){
const err2 = {instancePath,schemaPath:"#/maximum",keyword:"maximum",params:{comparison: "<=", limit: 3650},message:"must be <= 3650",schema:3650,parentSchema:schema52,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(data < 0 || isNaN(data)){
const err3 = {instancePath,schemaPath:"#/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema52,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
validate118.errors = vErrors;
return errors === 0;
}
validate118.evaluated = {"dynamicProps":false,"dynamicItems":false};

const schema53 = {"description":"Largest body of one upload request, which is held in memory for a retry; larger blobs are sent in parts of this size. At least the provider's minimum for a part (5 MiB with S3). Left out: 5 MB, with ontap 20 MB. With gcs the part size is `resumable_chunk_size`.","type":["integer","string"],"x-value":"size"};

function validate120(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate120.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if((!(((typeof data == "number") && (!(data % 1) && !isNaN(data))) && (isFinite(data)))) && (typeof data !== "string")){
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: schema53.type},message:"must be integer,string",schema:schema53.type,parentSchema:schema53,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
const reason0 = checkScalar.call(this, "size", data, schema53, instancePath);
if(reason0 !== undefined){
const err1 = {instancePath,schemaPath:"#/x-value",keyword:"x-value",params:{},message:reason0,schema:"size",parentSchema:schema53,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate120.errors = vErrors;
return errors === 0;
}
validate120.evaluated = {"dynamicProps":false,"dynamicItems":false};

const schema54 = {"description":"Parts in flight at one time, of all uploads together; each takes the memory of a part.","type":["integer","string"],"x-value":"count","minimum":0,"default":10,"x-zero-is-default":true};

function validate122(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate122.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if((!(((typeof data == "number") && (!(data % 1) && !isNaN(data))) && (isFinite(data)))) && (typeof data !== "string")){
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: schema54.type},message:"must be integer,string",schema:schema54.type,parentSchema:schema54,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
const reason0 = checkScalar.call(this, "count", data, schema54, instancePath);
if(reason0 !== undefined){
const err1 = {instancePath,schemaPath:"#/x-value",keyword:"x-value",params:{},message:reason0,schema:"count",parentSchema:schema54,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if((typeof data == "number") && (isFinite(data))){
if(data < 0 || isNaN(data)){
const err2 = {instancePath,schemaPath:"#/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema54,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
validate122.errors = vErrors;
return errors === 0;
}
validate122.evaluated = {"dynamicProps":false,"dynamicItems":false};

const schema55 = {"description":"Allow an address with `http://`.","type":["boolean","string"],"x-value":"bool","default":false};

function validate124(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate124.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if((typeof data !== "boolean") && (typeof data !== "string")){
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: schema55.type},message:"must be boolean,string",schema:schema55.type,parentSchema:schema55,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
const reason0 = checkScalar.call(this, "bool", data, schema55, instancePath);
if(reason0 !== undefined){
const err1 = {instancePath,schemaPath:"#/x-value",keyword:"x-value",params:{},message:reason0,schema:"bool",parentSchema:schema55,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate124.errors = vErrors;
return errors === 0;
}
validate124.evaluated = {"dynamicProps":false,"dynamicItems":false};

const schema56 = {"description":"Use HTTP/1.1 only, as the libraries of the providers do anyway.","type":["boolean","string"],"x-value":"bool","default":false,"x-ignored":true,"x-always-so":true};

function validate126(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate126.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if((typeof data !== "boolean") && (typeof data !== "string")){
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: schema56.type},message:"must be boolean,string",schema:schema56.type,parentSchema:schema56,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
const reason0 = checkScalar.call(this, "bool", data, schema56, instancePath);
if(reason0 !== undefined){
const err1 = {instancePath,schemaPath:"#/x-value",keyword:"x-value",params:{},message:reason0,schema:"bool",parentSchema:schema56,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate126.errors = vErrors;
return errors === 0;
}
validate126.evaluated = {"dynamicProps":false,"dynamicItems":false};


function validate105(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/store/experimental_s3_store.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate105.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!(func1.call(schema45.properties, key0))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema45,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.region !== undefined){
if(!(validate106.call(this, data.region, {instancePath:instancePath+"/region",parentData:data,parentDataProperty:"region",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate106.errors);
errors = vErrors.length;
}
}
if(data.bucket !== undefined){
if(!(validate108.call(this, data.bucket, {instancePath:instancePath+"/bucket",parentData:data,parentDataProperty:"bucket",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate108.errors);
errors = vErrors.length;
}
}
if(data.endpoint !== undefined){
if(!(validate110.call(this, data.endpoint, {instancePath:instancePath+"/endpoint",parentData:data,parentDataProperty:"endpoint",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate110.errors);
errors = vErrors.length;
}
}
if(data.key_prefix !== undefined){
if(!(validate112.call(this, data.key_prefix, {instancePath:instancePath+"/key_prefix",parentData:data,parentDataProperty:"key_prefix",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate112.errors);
errors = vErrors.length;
}
}
if(data.retry !== undefined){
if(!(validate114.call(this, data.retry, {instancePath:instancePath+"/retry",parentData:data,parentDataProperty:"retry",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate114.errors);
errors = vErrors.length;
}
}
if(data.consider_expired_after_s !== undefined){
if(!(validate116.call(this, data.consider_expired_after_s, {instancePath:instancePath+"/consider_expired_after_s",parentData:data,parentDataProperty:"consider_expired_after_s",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate116.errors);
errors = vErrors.length;
}
}
if(data.lifecycle_days !== undefined){
if(!(validate118.call(this, data.lifecycle_days, {instancePath:instancePath+"/lifecycle_days",parentData:data,parentDataProperty:"lifecycle_days",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate118.errors);
errors = vErrors.length;
}
}
if(data.max_retry_buffer_per_request !== undefined){
if(!(validate120.call(this, data.max_retry_buffer_per_request, {instancePath:instancePath+"/max_retry_buffer_per_request",parentData:data,parentDataProperty:"max_retry_buffer_per_request",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate120.errors);
errors = vErrors.length;
}
}
if(data.multipart_max_concurrent_uploads !== undefined){
if(!(validate122.call(this, data.multipart_max_concurrent_uploads, {instancePath:instancePath+"/multipart_max_concurrent_uploads",parentData:data,parentDataProperty:"multipart_max_concurrent_uploads",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate122.errors);
errors = vErrors.length;
}
}
if(data.insecure_allow_http !== undefined){
if(!(validate124.call(this, data.insecure_allow_http, {instancePath:instancePath+"/insecure_allow_http",parentData:data,parentDataProperty:"insecure_allow_http",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate124.errors);
errors = vErrors.length;
}
}
if(data.disable_http2 !== undefined){
if(!(validate126.call(this, data.disable_http2, {instancePath:instancePath+"/disable_http2",parentData:data,parentDataProperty:"disable_http2",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate126.errors);
errors = vErrors.length;
}
}
}
else {
const err1 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema45.type,parentSchema:schema45,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate105.errors = vErrors;
return errors === 0;
}
validate105.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema57 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/store/ontap_s3_existence_cache.json","title":"ontap_s3_existence_cache","description":"An ONTAP object store (as `experimental_cloud_object_store` with `provider: 'ontap'`) with a list of its keys, so that lookups of listed blobs need no request. The list is kept in a file and rebuilt from time to time; unlisted blobs are looked up. A blob deleted by others is reported until the next list. For a CAS; action results are always looked up.","type":"object","properties":{"index_path":{"description":"File of the list; each store needs one of its own. It may be deleted while the server is stopped.","type":"string","x-path":true},"sync_interval_seconds":{"description":"Seconds from the end of one listing to the beginning of the next. For this long a blob deleted by others may still be reported as present.","type":["integer","string"],"x-value":"count","minimum":1},"backend":{"title":"OntapBackend","description":"The object store.","type":"object","properties":{"endpoint":{"description":"Address of the service, with `https://` unless `insecure_allow_http` is set.","type":"string"},"vserver_name":{"description":"Virtual server, used as the region.","type":"string"},"bucket":{"description":"Bucket.","type":"string"},"root_certificates":{"description":"PEM file of the authorities to trust instead of the system's.","type":"string","x-path":true,"x-public":true},"key_prefix":{"description":"Prefix of every key, without a separator.","type":"string","default":""},"retry":{"description":"How failed calls are retried.","$ref":"https://remexec.invalid/schema/shared/retry.json","default":{}},"consider_expired_after_s":{"description":"Objects older than this many seconds count as missing; 0 means never.","type":["integer","string"],"x-value":"duration","default":0},"max_retry_buffer_per_request":{"description":"Largest body of one upload request, which is held in memory for a retry; larger blobs are sent in parts of this size.","type":["integer","string"],"x-value":"size","default":20000000,"x-nativelink-default":"20 MiB"},"multipart_max_concurrent_uploads":{"description":"Parts in flight at one time, of all uploads together; each takes the memory of a part.","type":["integer","string"],"x-value":"count","minimum":0,"default":10},"insecure_allow_http":{"description":"Allow an address with `http://`.","type":["boolean","string"],"x-value":"bool","default":false},"disable_http2":{"description":"Use HTTP/1.1 only, as the library of the provider does anyway.","type":["boolean","string"],"x-value":"bool","default":false,"x-ignored":true,"x-always-so":true}},"additionalProperties":false,"required":["endpoint","vserver_name","bucket"]}},"additionalProperties":false,"required":["index_path","sync_interval_seconds","backend"]};

function validate129(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/store/ontap_s3_existence_cache.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate129.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.index_path === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "index_path"},message:"must have required property '"+"index_path"+"'",schema:schema57.required,parentSchema:schema57,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.sync_interval_seconds === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "sync_interval_seconds"},message:"must have required property '"+"sync_interval_seconds"+"'",schema:schema57.required,parentSchema:schema57,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.backend === undefined){
const err2 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "backend"},message:"must have required property '"+"backend"+"'",schema:schema57.required,parentSchema:schema57,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
for(const key0 in data){
if(!(((key0 === "index_path") || (key0 === "sync_interval_seconds")) || (key0 === "backend"))){
const err3 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema57,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.index_path !== undefined){
let data0 = data.index_path;
if(typeof data0 !== "string"){
const err4 = {instancePath:instancePath+"/index_path",schemaPath:"#/properties/index_path/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema57.properties.index_path.type,parentSchema:schema57.properties.index_path,data:data0};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.sync_interval_seconds !== undefined){
let data1 = data.sync_interval_seconds;
if((!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))) && (typeof data1 !== "string")){
const err5 = {instancePath:instancePath+"/sync_interval_seconds",schemaPath:"#/properties/sync_interval_seconds/type",keyword:"type",params:{type: schema57.properties.sync_interval_seconds.type},message:"must be integer,string",schema:schema57.properties.sync_interval_seconds.type,parentSchema:schema57.properties.sync_interval_seconds,data:data1};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
const reason0 = checkScalar.call(this, "count", data1, schema57.properties.sync_interval_seconds, instancePath+"/sync_interval_seconds");
if(reason0 !== undefined){
const err6 = {instancePath:instancePath+"/sync_interval_seconds",schemaPath:"#/properties/sync_interval_seconds/x-value",keyword:"x-value",params:{},message:reason0,schema:"count",parentSchema:schema57.properties.sync_interval_seconds,data:data1};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if((typeof data1 == "number") && (isFinite(data1))){
if(data1 < 1 || isNaN(data1)){
const err7 = {instancePath:instancePath+"/sync_interval_seconds",schemaPath:"#/properties/sync_interval_seconds/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema57.properties.sync_interval_seconds,data:data1};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
}
if(data.backend !== undefined){
let data2 = data.backend;
if(data2 && typeof data2 == "object" && !Array.isArray(data2)){
if(data2.endpoint === undefined){
const err8 = {instancePath:instancePath+"/backend",schemaPath:"#/properties/backend/required",keyword:"required",params:{missingProperty: "endpoint"},message:"must have required property '"+"endpoint"+"'",schema:schema57.properties.backend.required,parentSchema:schema57.properties.backend,data:data2};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
if(data2.vserver_name === undefined){
const err9 = {instancePath:instancePath+"/backend",schemaPath:"#/properties/backend/required",keyword:"required",params:{missingProperty: "vserver_name"},message:"must have required property '"+"vserver_name"+"'",schema:schema57.properties.backend.required,parentSchema:schema57.properties.backend,data:data2};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
if(data2.bucket === undefined){
const err10 = {instancePath:instancePath+"/backend",schemaPath:"#/properties/backend/required",keyword:"required",params:{missingProperty: "bucket"},message:"must have required property '"+"bucket"+"'",schema:schema57.properties.backend.required,parentSchema:schema57.properties.backend,data:data2};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
for(const key1 in data2){
if(!(func1.call(schema57.properties.backend.properties, key1))){
const err11 = {instancePath:instancePath+"/backend",schemaPath:"#/properties/backend/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key1},message:"must NOT have additional properties",schema:false,parentSchema:schema57.properties.backend,data:data2};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
if(data2.endpoint !== undefined){
let data3 = data2.endpoint;
if(typeof data3 !== "string"){
const err12 = {instancePath:instancePath+"/backend/endpoint",schemaPath:"#/properties/backend/properties/endpoint/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema57.properties.backend.properties.endpoint.type,parentSchema:schema57.properties.backend.properties.endpoint,data:data3};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
if(data2.vserver_name !== undefined){
let data4 = data2.vserver_name;
if(typeof data4 !== "string"){
const err13 = {instancePath:instancePath+"/backend/vserver_name",schemaPath:"#/properties/backend/properties/vserver_name/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema57.properties.backend.properties.vserver_name.type,parentSchema:schema57.properties.backend.properties.vserver_name,data:data4};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
}
if(data2.bucket !== undefined){
let data5 = data2.bucket;
if(typeof data5 !== "string"){
const err14 = {instancePath:instancePath+"/backend/bucket",schemaPath:"#/properties/backend/properties/bucket/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema57.properties.backend.properties.bucket.type,parentSchema:schema57.properties.backend.properties.bucket,data:data5};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
if(data2.root_certificates !== undefined){
let data6 = data2.root_certificates;
if(typeof data6 !== "string"){
const err15 = {instancePath:instancePath+"/backend/root_certificates",schemaPath:"#/properties/backend/properties/root_certificates/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema57.properties.backend.properties.root_certificates.type,parentSchema:schema57.properties.backend.properties.root_certificates,data:data6};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
if(data2.key_prefix !== undefined){
let data7 = data2.key_prefix;
if(typeof data7 !== "string"){
const err16 = {instancePath:instancePath+"/backend/key_prefix",schemaPath:"#/properties/backend/properties/key_prefix/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema57.properties.backend.properties.key_prefix.type,parentSchema:schema57.properties.backend.properties.key_prefix,data:data7};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
}
if(data2.retry !== undefined){
if(!(validate94.call(this, data2.retry, {instancePath:instancePath+"/backend/retry",parentData:data2,parentDataProperty:"retry",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate94.errors);
errors = vErrors.length;
}
}
if(data2.consider_expired_after_s !== undefined){
let data9 = data2.consider_expired_after_s;
if((!(((typeof data9 == "number") && (!(data9 % 1) && !isNaN(data9))) && (isFinite(data9)))) && (typeof data9 !== "string")){
const err17 = {instancePath:instancePath+"/backend/consider_expired_after_s",schemaPath:"#/properties/backend/properties/consider_expired_after_s/type",keyword:"type",params:{type: schema57.properties.backend.properties.consider_expired_after_s.type},message:"must be integer,string",schema:schema57.properties.backend.properties.consider_expired_after_s.type,parentSchema:schema57.properties.backend.properties.consider_expired_after_s,data:data9};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
const reason1 = checkScalar.call(this, "duration", data9, schema57.properties.backend.properties.consider_expired_after_s, instancePath+"/backend/consider_expired_after_s");
if(reason1 !== undefined){
const err18 = {instancePath:instancePath+"/backend/consider_expired_after_s",schemaPath:"#/properties/backend/properties/consider_expired_after_s/x-value",keyword:"x-value",params:{},message:reason1,schema:"duration",parentSchema:schema57.properties.backend.properties.consider_expired_after_s,data:data9};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
}
if(data2.max_retry_buffer_per_request !== undefined){
let data10 = data2.max_retry_buffer_per_request;
if((!(((typeof data10 == "number") && (!(data10 % 1) && !isNaN(data10))) && (isFinite(data10)))) && (typeof data10 !== "string")){
const err19 = {instancePath:instancePath+"/backend/max_retry_buffer_per_request",schemaPath:"#/properties/backend/properties/max_retry_buffer_per_request/type",keyword:"type",params:{type: schema57.properties.backend.properties.max_retry_buffer_per_request.type},message:"must be integer,string",schema:schema57.properties.backend.properties.max_retry_buffer_per_request.type,parentSchema:schema57.properties.backend.properties.max_retry_buffer_per_request,data:data10};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
const reason2 = checkScalar.call(this, "size", data10, schema57.properties.backend.properties.max_retry_buffer_per_request, instancePath+"/backend/max_retry_buffer_per_request");
if(reason2 !== undefined){
const err20 = {instancePath:instancePath+"/backend/max_retry_buffer_per_request",schemaPath:"#/properties/backend/properties/max_retry_buffer_per_request/x-value",keyword:"x-value",params:{},message:reason2,schema:"size",parentSchema:schema57.properties.backend.properties.max_retry_buffer_per_request,data:data10};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
}
if(data2.multipart_max_concurrent_uploads !== undefined){
let data11 = data2.multipart_max_concurrent_uploads;
if((!(((typeof data11 == "number") && (!(data11 % 1) && !isNaN(data11))) && (isFinite(data11)))) && (typeof data11 !== "string")){
const err21 = {instancePath:instancePath+"/backend/multipart_max_concurrent_uploads",schemaPath:"#/properties/backend/properties/multipart_max_concurrent_uploads/type",keyword:"type",params:{type: schema57.properties.backend.properties.multipart_max_concurrent_uploads.type},message:"must be integer,string",schema:schema57.properties.backend.properties.multipart_max_concurrent_uploads.type,parentSchema:schema57.properties.backend.properties.multipart_max_concurrent_uploads,data:data11};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
const reason3 = checkScalar.call(this, "count", data11, schema57.properties.backend.properties.multipart_max_concurrent_uploads, instancePath+"/backend/multipart_max_concurrent_uploads");
if(reason3 !== undefined){
const err22 = {instancePath:instancePath+"/backend/multipart_max_concurrent_uploads",schemaPath:"#/properties/backend/properties/multipart_max_concurrent_uploads/x-value",keyword:"x-value",params:{},message:reason3,schema:"count",parentSchema:schema57.properties.backend.properties.multipart_max_concurrent_uploads,data:data11};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
if((typeof data11 == "number") && (isFinite(data11))){
if(data11 < 0 || isNaN(data11)){
const err23 = {instancePath:instancePath+"/backend/multipart_max_concurrent_uploads",schemaPath:"#/properties/backend/properties/multipart_max_concurrent_uploads/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema57.properties.backend.properties.multipart_max_concurrent_uploads,data:data11};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
}
}
if(data2.insecure_allow_http !== undefined){
let data12 = data2.insecure_allow_http;
if((typeof data12 !== "boolean") && (typeof data12 !== "string")){
const err24 = {instancePath:instancePath+"/backend/insecure_allow_http",schemaPath:"#/properties/backend/properties/insecure_allow_http/type",keyword:"type",params:{type: schema57.properties.backend.properties.insecure_allow_http.type},message:"must be boolean,string",schema:schema57.properties.backend.properties.insecure_allow_http.type,parentSchema:schema57.properties.backend.properties.insecure_allow_http,data:data12};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
const reason4 = checkScalar.call(this, "bool", data12, schema57.properties.backend.properties.insecure_allow_http, instancePath+"/backend/insecure_allow_http");
if(reason4 !== undefined){
const err25 = {instancePath:instancePath+"/backend/insecure_allow_http",schemaPath:"#/properties/backend/properties/insecure_allow_http/x-value",keyword:"x-value",params:{},message:reason4,schema:"bool",parentSchema:schema57.properties.backend.properties.insecure_allow_http,data:data12};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
}
if(data2.disable_http2 !== undefined){
let data13 = data2.disable_http2;
if((typeof data13 !== "boolean") && (typeof data13 !== "string")){
const err26 = {instancePath:instancePath+"/backend/disable_http2",schemaPath:"#/properties/backend/properties/disable_http2/type",keyword:"type",params:{type: schema57.properties.backend.properties.disable_http2.type},message:"must be boolean,string",schema:schema57.properties.backend.properties.disable_http2.type,parentSchema:schema57.properties.backend.properties.disable_http2,data:data13};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
const reason5 = checkScalar.call(this, "bool", data13, schema57.properties.backend.properties.disable_http2, instancePath+"/backend/disable_http2");
if(reason5 !== undefined){
const err27 = {instancePath:instancePath+"/backend/disable_http2",schemaPath:"#/properties/backend/properties/disable_http2/x-value",keyword:"x-value",params:{},message:reason5,schema:"bool",parentSchema:schema57.properties.backend.properties.disable_http2,data:data13};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
}
}
else {
const err28 = {instancePath:instancePath+"/backend",schemaPath:"#/properties/backend/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema57.properties.backend.type,parentSchema:schema57.properties.backend,data:data2};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
}
}
else {
const err29 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema57.type,parentSchema:schema57,data};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
validate129.errors = vErrors;
return errors === 0;
}
validate129.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema58 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/store/cache_metrics.json","title":"cache_metrics","description":"Adds a label to the cache metrics of its backend. Every store is counted without it too.","type":"object","properties":{"cache_type":{"description":"The label, such as `cas` or `ac`.","type":"string"},"backend":{"description":"The store that is counted.","$ref":"https://remexec.invalid/schema/store.json"}},"additionalProperties":false,"required":["cache_type","backend"]};

function validate132(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/store/cache_metrics.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate132.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.cache_type === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "cache_type"},message:"must have required property '"+"cache_type"+"'",schema:schema58.required,parentSchema:schema58,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.backend === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "backend"},message:"must have required property '"+"backend"+"'",schema:schema58.required,parentSchema:schema58,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
for(const key0 in data){
if(!((key0 === "cache_type") || (key0 === "backend"))){
const err2 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema58,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.cache_type !== undefined){
let data0 = data.cache_type;
if(typeof data0 !== "string"){
const err3 = {instancePath:instancePath+"/cache_type",schemaPath:"#/properties/cache_type/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema58.properties.cache_type.type,parentSchema:schema58.properties.cache_type,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.backend !== undefined){
if(!(wrapper0.validate.call(this, data.backend, {instancePath:instancePath+"/backend",parentData:data,parentDataProperty:"backend",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, wrapper0.validate.errors);
errors = vErrors.length;
}
}
}
else {
const err4 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema58.type,parentSchema:schema58,data};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
validate132.errors = vErrors;
return errors === 0;
}
validate132.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};


function validate53(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/store.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate53.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!(func1.call(schema20.properties, key0))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema20,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.name !== undefined){
let data0 = data.name;
if(typeof data0 !== "string"){
const err1 = {instancePath:instancePath+"/name",schemaPath:"#/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema20.properties.name.type,parentSchema:schema20.properties.name,data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.memory !== undefined){
if(!(validate54.call(this, data.memory, {instancePath:instancePath+"/memory",parentData:data,parentDataProperty:"memory",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate54.errors);
errors = vErrors.length;
}
}
if(data.filesystem !== undefined){
if(!(validate58.call(this, data.filesystem, {instancePath:instancePath+"/filesystem",parentData:data,parentDataProperty:"filesystem",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate58.errors);
errors = vErrors.length;
}
}
if(data.fast_slow !== undefined){
if(!(validate61.call(this, data.fast_slow, {instancePath:instancePath+"/fast_slow",parentData:data,parentDataProperty:"fast_slow",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate61.errors);
errors = vErrors.length;
}
}
if(data.compression !== undefined){
if(!(validate65.call(this, data.compression, {instancePath:instancePath+"/compression",parentData:data,parentDataProperty:"compression",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate65.errors);
errors = vErrors.length;
}
}
if(data.dedup !== undefined){
if(!(validate71.call(this, data.dedup, {instancePath:instancePath+"/dedup",parentData:data,parentDataProperty:"dedup",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate71.errors);
errors = vErrors.length;
}
}
if(data.verify !== undefined){
if(!(validate73.call(this, data.verify, {instancePath:instancePath+"/verify",parentData:data,parentDataProperty:"verify",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate73.errors);
errors = vErrors.length;
}
}
if(data.existence_cache !== undefined){
if(!(validate75.call(this, data.existence_cache, {instancePath:instancePath+"/existence_cache",parentData:data,parentDataProperty:"existence_cache",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate75.errors);
errors = vErrors.length;
}
}
if(data.completeness_checking !== undefined){
if(!(validate77.call(this, data.completeness_checking, {instancePath:instancePath+"/completeness_checking",parentData:data,parentDataProperty:"completeness_checking",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate77.errors);
errors = vErrors.length;
}
}
if(data.size_partitioning !== undefined){
if(!(validate79.call(this, data.size_partitioning, {instancePath:instancePath+"/size_partitioning",parentData:data,parentDataProperty:"size_partitioning",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate79.errors);
errors = vErrors.length;
}
}
if(data.shard !== undefined){
if(!(validate81.call(this, data.shard, {instancePath:instancePath+"/shard",parentData:data,parentDataProperty:"shard",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate81.errors);
errors = vErrors.length;
}
}
if(data.ref_store !== undefined){
if(!(validate85.call(this, data.ref_store, {instancePath:instancePath+"/ref_store",parentData:data,parentDataProperty:"ref_store",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate85.errors);
errors = vErrors.length;
}
}
if(data.noop !== undefined){
if(!(validate87.call(this, data.noop, {instancePath:instancePath+"/noop",parentData:data,parentDataProperty:"noop",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate87.errors);
errors = vErrors.length;
}
}
if(data.grpc !== undefined){
if(!(validate89.call(this, data.grpc, {instancePath:instancePath+"/grpc",parentData:data,parentDataProperty:"grpc",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate89.errors);
errors = vErrors.length;
}
}
if(data.redis_store !== undefined){
if(!(validate97.call(this, data.redis_store, {instancePath:instancePath+"/redis_store",parentData:data,parentDataProperty:"redis_store",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate97.errors);
errors = vErrors.length;
}
}
if(data.experimental_mongo !== undefined){
if(!(validate100.call(this, data.experimental_mongo, {instancePath:instancePath+"/experimental_mongo",parentData:data,parentDataProperty:"experimental_mongo",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate100.errors);
errors = vErrors.length;
}
}
if(data.experimental_cloud_object_store !== undefined){
if(!(validate102.call(this, data.experimental_cloud_object_store, {instancePath:instancePath+"/experimental_cloud_object_store",parentData:data,parentDataProperty:"experimental_cloud_object_store",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate102.errors);
errors = vErrors.length;
}
}
if(data.experimental_s3_store !== undefined){
if(!(validate105.call(this, data.experimental_s3_store, {instancePath:instancePath+"/experimental_s3_store",parentData:data,parentDataProperty:"experimental_s3_store",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate105.errors);
errors = vErrors.length;
}
}
if(data.ontap_s3_existence_cache !== undefined){
if(!(validate129.call(this, data.ontap_s3_existence_cache, {instancePath:instancePath+"/ontap_s3_existence_cache",parentData:data,parentDataProperty:"ontap_s3_existence_cache",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate129.errors);
errors = vErrors.length;
}
}
if(data.cache_metrics !== undefined){
if(!(validate132.call(this, data.cache_metrics, {instancePath:instancePath+"/cache_metrics",parentData:data,parentDataProperty:"cache_metrics",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate132.errors);
errors = vErrors.length;
}
}
const reason0 = checkKind.call(this, "store", data, schema20, instancePath);
if(reason0 !== undefined){
const err2 = {instancePath,schemaPath:"#/x-kinds",keyword:"x-kinds",params:{},message:reason0,schema:"store",parentSchema:schema20,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
else {
const err3 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema20.type,parentSchema:schema20,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate53.errors = vErrors;
return errors === 0;
}
validate53.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema59 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/scheduler.json","title":"Scheduler","description":"A scheduler: exactly one kind and its settings; in the array form of `schedulers` also its `name`.","x-kinds":"scheduler","x-lenient":"always","type":"object","additionalProperties":false,"properties":{"name":{"description":"The name by which services and workers refer to it.","type":"string"},"simple":{"$ref":"https://remexec.invalid/schema/scheduler/simple.json"},"grpc":{"$ref":"https://remexec.invalid/schema/scheduler/grpc.json"},"cache_lookup":{"$ref":"https://remexec.invalid/schema/scheduler/cache_lookup.json"},"property_modifier":{"$ref":"https://remexec.invalid/schema/scheduler/property_modifier.json"},"historical_resource":{"$ref":"https://remexec.invalid/schema/scheduler/historical_resource.json"}}};
const schema60 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/scheduler/simple.json","title":"simple","description":"Queues actions in memory and hands them to workers whose properties satisfy them.","type":"object","properties":{"supported_platform_properties":{"description":"The platform properties that actions may ask for, and how each is matched. `exact`: the values are equal. `minimum`: the worker has at least this number, and reserves that much while the action runs. `priority`: the worker has the property. `ignore`: always matches. `'*'` sets the match for every property that is not listed; without it an action that asks for an unlisted property is rejected. Unless listed, `persistentWorkerKey` and `persistentWorkerProtocol`, which Bazel adds itself, are accepted and match every worker. Unless listed, `container-image` and `docker-image` are not covered by `'*': 'ignore'`: an action that names an image by them needs a worker with `container_images`; list them as `ignore` to run such actions on workers as they are.","type":"object","additionalProperties":{"type":"string","enum":["minimum","exact","priority","ignore"]},"default":{}},"retain_completed_for_s":{"description":"Seconds for which WaitExecution and GetOperation still find a finished operation.","type":["integer","string"],"x-value":"duration","default":60,"x-zero-is-default":true},"client_action_timeout_s":{"description":"Seconds that an operation continues without a client that waits for it; then it is cancelled.","type":["integer","string"],"x-value":"duration","default":60,"x-zero-is-default":true},"worker_timeout_s":{"description":"Seconds without a keepalive after which a worker counts as lost and its actions are queued again.","type":["integer","string"],"x-value":"duration","default":5,"x-zero-is-default":true},"max_action_executing_timeout_s":{"description":"Seconds without news from the worker that runs an action before the action is queued again. This counts as an attempt; 0 turns it off.","type":["integer","string"],"x-value":"duration","default":0},"unacknowledged_kill_timeout_s":{"description":"Seconds in which a worker must confirm that it stopped an action; after that the worker is removed.","type":["integer","string"],"x-value":"duration","default":60,"x-zero-is-default":true},"worker_failures_in_a_row":{"description":"After so many failures in a row of different actions that were the worker's own (a store, a disk, a right), the worker is set aside for `worker_backoff_s`. Then it gets one action, and all it can run once that has run. 0: never.","type":["integer","string"],"x-value":"count","minimum":0,"default":3},"worker_backoff_s":{"description":"Seconds for which a worker is set aside the first time; twice as long each time that the action it is tried with fails too, up to 32 times as long.","type":["integer","string"],"x-value":"duration","minimum":1,"default":10},"max_job_retries":{"description":"How often an action is retried after a lost worker, an internal error of a worker or `max_action_executing_timeout_s`. One failure more returns the last error. 0 means no retry.","type":["integer","string"],"x-value":"count","minimum":0,"default":3},"allocation_strategy":{"description":"The choice among matching workers: the one that was idle longest spreads the load, the one used last keeps its inputs warm.","type":"string","enum":["least_recently_used","most_recently_used"],"default":"least_recently_used"},"experimental_backend":{"description":"`memory`: this process alone has the queue. `{redis: {redis_store: NAME}}` or `{object: {object_store: NAME}}`: all servers with the same one have one queue, of which one elected server takes care; Redis, or an object of a bucket, keeps who that is, and nothing of the queue. Needs `peers`.","type":["string","object"],"x-words":["memory"],"properties":{"redis":{"title":"RedisElection","type":"object","description":"The election by Redis or Valkey: standard, sentinel or cluster.","properties":{"redis_store":{"description":"A store of kind `redis_store`, whose address is used. Servers whose scheduler has the same name and `key_prefix` there have one queue.","type":"string","x-names":"stores"}},"required":["redis_store"],"additionalProperties":false},"object":{"title":"ObjectElection","type":"object","description":"The election by an object of S3, Google Cloud Storage or Azure, or of a compatible server that refuses writes whose condition does not hold.","properties":{"object_store":{"description":"A store of kind `experimental_cloud_object_store`, whose bucket and credentials are used. Servers whose scheduler has the same name and `key_prefix` there have one queue. The credentials read, write and delete objects below `KEY_PREFIXremexec/`.","type":"string","x-names":"stores"}},"required":["object_store"],"additionalProperties":false}},"additionalProperties":false,"minProperties":1,"maxProperties":1,"default":"memory"},"peers":{"title":"Peers","description":"How the servers that have one queue reach each other. Only with an `experimental_backend` that they share.","type":"object","properties":{"endpoint":{"description":"`address`: where the other servers reach the services `execution` and `worker_api` of this one. The rest says how this server calls them; by certificate or `headers` they have to know it, and grant it `forward`, `work`, `execute` and `administer`.","$ref":"https://remexec.invalid/schema/shared/grpc_endpoint.json"},"headers":{"description":"Metadata that this server sends to the others with every call, such as `authorization: 'Bearer ${TOKEN}'`.","type":"object","additionalProperties":{"type":"string"},"default":{}},"lease_s":{"description":"Seconds after which another server may lead, if the leader is not heard of. It renews its lease three times in this time. Default: 3, and 10 with an object.","type":["integer","string"],"x-value":"duration","minimum":1},"when_engine_away":{"description":"What the leader does while `experimental_backend` does not answer. `continue`: goes on, as long as no server that it reaches knows of another leader. `stop`: leads no more, so that nothing is started before it answers.","type":"string","enum":["continue","stop"],"default":"continue"},"leader_wait_s":{"description":"Seconds that operations wait while nobody leads, before they and new actions end with UNAVAILABLE.","type":["integer","string"],"x-value":"duration","minimum":1,"default":30}},"additionalProperties":false,"required":["endpoint"]},"worker_match_logging_interval_s":{"description":"Seconds between log lines about actions that wait and that no worker matches. The first line comes at once. 0 or -1: only that one.","type":["integer","string"],"x-value":"signed_duration","default":300},"fallback_match_interval_s":{"description":"Seconds between matching passes that run even when nothing has changed; 0 or less turns them off.","type":["integer","string"],"x-value":"signed_duration","default":5},"no_worker_timeout_s":{"description":"Seconds that an action stays queued while no connected worker could ever run it, or only workers that are sick or set aside. Then the client gets FAILED_PRECONDITION with the requested properties and those of the workers, or UNAVAILABLE with what is wrong with them. 0 means no limit.","type":["integer","string"],"x-value":"duration","default":60},"max_queued_actions":{"description":"Most actions waiting for a worker; further ones are refused with RESOURCE_EXHAUSTED.","type":["integer","string"],"x-value":"count","minimum":1,"default":100000},"max_queued_actions_per_instance":{"description":"Most actions of one instance waiting for a worker; further ones of it are refused with RESOURCE_EXHAUSTED. 0 sets no limit beyond `max_queued_actions`.","type":["integer","string"],"x-value":"count","minimum":0,"default":0},"max_running_actions_per_instance":{"description":"Most actions of one instance running at a time; further ones wait although a worker has room. 0 sets no limit.","type":["integer","string"],"x-value":"count","minimum":0,"default":0},"priority_ageing_s":{"description":"Seconds of waiting that count as one step of priority, so that actions of low priority are not starved. 0 turns this off.","type":["integer","string"],"x-value":"duration","default":60},"adopt_attempts_for_s":{"description":"Seconds after a start in which workers may continue actions of the previous scheduler process, for clients that come back. Later, and always with 0, workers must stop them; then a restart runs such actions again.","type":["integer","string"],"x-value":"duration","default":60},"hold_worker_after_s":{"description":"Seconds that an action with a `minimum` property waits before one suitable worker is reserved for it. That worker gets no other action until this one fits. 0 turns this off.","type":["integer","string"],"x-value":"duration","default":30},"learned_sizes":{"title":"LearnedSizes","description":"Learn what actions need from their own past: those of one target and mnemonic (`target_id` and `action_mnemonic` of the client), by the last eight runs. Kept in memory, so a restart begins anew.","type":"object","properties":{"use":{"description":"`off`; `hint`: the log of ended actions (`learnedMemoryKb`, `learnedCpus`) and the page `/sizes` say what would be reserved; `on`: an action reserves on its worker a fifth more memory than its largest run had, and the processors that it kept busy, if it does not ask for more and any worker has as much. One that is ended at the memory that it asks for runs again with twice as much, up to three times, and its next runs begin with that.","type":"string","enum":["off","hint","on"],"default":"hint"},"memory_property":{"description":"Property with the memory in KiB; needs `minimum` in `supported_platform_properties`. Empty: memory is not learned.","type":"string","default":"memory_kb"},"cpu_property":{"description":"Property with the number of processors; needs `minimum` in `supported_platform_properties`. Empty: processors are not learned.","type":"string","default":"cpu_count"}},"additionalProperties":false,"default":{}},"warm_worker_wait_ms":{"description":"Milliseconds that an action waits for a worker that has what it needs ready (a process of its persistent worker, its image, an input root of its kind), while others that would have to get it first have room. In that time such a worker also takes it before another action of the same build, of the same priority, that is next. 0: workers that have it are only preferred if they have room.","type":["integer","string"],"x-value":"duration_ms","default":200}},"additionalProperties":false};

function validate137(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/scheduler/simple.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate137.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!(func1.call(schema60.properties, key0))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema60,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.supported_platform_properties !== undefined){
let data0 = data.supported_platform_properties;
if(data0 && typeof data0 == "object" && !Array.isArray(data0)){
for(const key1 in data0){
let data1 = data0[key1];
if(typeof data1 !== "string"){
const err1 = {instancePath:instancePath+"/supported_platform_properties/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/supported_platform_properties/additionalProperties/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema60.properties.supported_platform_properties.additionalProperties.type,parentSchema:schema60.properties.supported_platform_properties.additionalProperties,data:data1};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(!((((data1 === "minimum") || (data1 === "exact")) || (data1 === "priority")) || (data1 === "ignore"))){
const err2 = {instancePath:instancePath+"/supported_platform_properties/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/supported_platform_properties/additionalProperties/enum",keyword:"enum",params:{allowedValues: schema60.properties.supported_platform_properties.additionalProperties.enum},message:"must be equal to one of the allowed values",schema:schema60.properties.supported_platform_properties.additionalProperties.enum,parentSchema:schema60.properties.supported_platform_properties.additionalProperties,data:data1};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
}
else {
const err3 = {instancePath:instancePath+"/supported_platform_properties",schemaPath:"#/properties/supported_platform_properties/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema60.properties.supported_platform_properties.type,parentSchema:schema60.properties.supported_platform_properties,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.retain_completed_for_s !== undefined){
let data2 = data.retain_completed_for_s;
if((!(((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2))) && (isFinite(data2)))) && (typeof data2 !== "string")){
const err4 = {instancePath:instancePath+"/retain_completed_for_s",schemaPath:"#/properties/retain_completed_for_s/type",keyword:"type",params:{type: schema60.properties.retain_completed_for_s.type},message:"must be integer,string",schema:schema60.properties.retain_completed_for_s.type,parentSchema:schema60.properties.retain_completed_for_s,data:data2};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
const reason0 = checkScalar.call(this, "duration", data2, schema60.properties.retain_completed_for_s, instancePath+"/retain_completed_for_s");
if(reason0 !== undefined){
const err5 = {instancePath:instancePath+"/retain_completed_for_s",schemaPath:"#/properties/retain_completed_for_s/x-value",keyword:"x-value",params:{},message:reason0,schema:"duration",parentSchema:schema60.properties.retain_completed_for_s,data:data2};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data.client_action_timeout_s !== undefined){
let data3 = data.client_action_timeout_s;
if((!(((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3))) && (isFinite(data3)))) && (typeof data3 !== "string")){
const err6 = {instancePath:instancePath+"/client_action_timeout_s",schemaPath:"#/properties/client_action_timeout_s/type",keyword:"type",params:{type: schema60.properties.client_action_timeout_s.type},message:"must be integer,string",schema:schema60.properties.client_action_timeout_s.type,parentSchema:schema60.properties.client_action_timeout_s,data:data3};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
const reason1 = checkScalar.call(this, "duration", data3, schema60.properties.client_action_timeout_s, instancePath+"/client_action_timeout_s");
if(reason1 !== undefined){
const err7 = {instancePath:instancePath+"/client_action_timeout_s",schemaPath:"#/properties/client_action_timeout_s/x-value",keyword:"x-value",params:{},message:reason1,schema:"duration",parentSchema:schema60.properties.client_action_timeout_s,data:data3};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
if(data.worker_timeout_s !== undefined){
let data4 = data.worker_timeout_s;
if((!(((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4))) && (isFinite(data4)))) && (typeof data4 !== "string")){
const err8 = {instancePath:instancePath+"/worker_timeout_s",schemaPath:"#/properties/worker_timeout_s/type",keyword:"type",params:{type: schema60.properties.worker_timeout_s.type},message:"must be integer,string",schema:schema60.properties.worker_timeout_s.type,parentSchema:schema60.properties.worker_timeout_s,data:data4};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
const reason2 = checkScalar.call(this, "duration", data4, schema60.properties.worker_timeout_s, instancePath+"/worker_timeout_s");
if(reason2 !== undefined){
const err9 = {instancePath:instancePath+"/worker_timeout_s",schemaPath:"#/properties/worker_timeout_s/x-value",keyword:"x-value",params:{},message:reason2,schema:"duration",parentSchema:schema60.properties.worker_timeout_s,data:data4};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
if(data.max_action_executing_timeout_s !== undefined){
let data5 = data.max_action_executing_timeout_s;
if((!(((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5))) && (isFinite(data5)))) && (typeof data5 !== "string")){
const err10 = {instancePath:instancePath+"/max_action_executing_timeout_s",schemaPath:"#/properties/max_action_executing_timeout_s/type",keyword:"type",params:{type: schema60.properties.max_action_executing_timeout_s.type},message:"must be integer,string",schema:schema60.properties.max_action_executing_timeout_s.type,parentSchema:schema60.properties.max_action_executing_timeout_s,data:data5};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
const reason3 = checkScalar.call(this, "duration", data5, schema60.properties.max_action_executing_timeout_s, instancePath+"/max_action_executing_timeout_s");
if(reason3 !== undefined){
const err11 = {instancePath:instancePath+"/max_action_executing_timeout_s",schemaPath:"#/properties/max_action_executing_timeout_s/x-value",keyword:"x-value",params:{},message:reason3,schema:"duration",parentSchema:schema60.properties.max_action_executing_timeout_s,data:data5};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
if(data.unacknowledged_kill_timeout_s !== undefined){
let data6 = data.unacknowledged_kill_timeout_s;
if((!(((typeof data6 == "number") && (!(data6 % 1) && !isNaN(data6))) && (isFinite(data6)))) && (typeof data6 !== "string")){
const err12 = {instancePath:instancePath+"/unacknowledged_kill_timeout_s",schemaPath:"#/properties/unacknowledged_kill_timeout_s/type",keyword:"type",params:{type: schema60.properties.unacknowledged_kill_timeout_s.type},message:"must be integer,string",schema:schema60.properties.unacknowledged_kill_timeout_s.type,parentSchema:schema60.properties.unacknowledged_kill_timeout_s,data:data6};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
const reason4 = checkScalar.call(this, "duration", data6, schema60.properties.unacknowledged_kill_timeout_s, instancePath+"/unacknowledged_kill_timeout_s");
if(reason4 !== undefined){
const err13 = {instancePath:instancePath+"/unacknowledged_kill_timeout_s",schemaPath:"#/properties/unacknowledged_kill_timeout_s/x-value",keyword:"x-value",params:{},message:reason4,schema:"duration",parentSchema:schema60.properties.unacknowledged_kill_timeout_s,data:data6};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
}
if(data.worker_failures_in_a_row !== undefined){
let data7 = data.worker_failures_in_a_row;
if((!(((typeof data7 == "number") && (!(data7 % 1) && !isNaN(data7))) && (isFinite(data7)))) && (typeof data7 !== "string")){
const err14 = {instancePath:instancePath+"/worker_failures_in_a_row",schemaPath:"#/properties/worker_failures_in_a_row/type",keyword:"type",params:{type: schema60.properties.worker_failures_in_a_row.type},message:"must be integer,string",schema:schema60.properties.worker_failures_in_a_row.type,parentSchema:schema60.properties.worker_failures_in_a_row,data:data7};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
const reason5 = checkScalar.call(this, "count", data7, schema60.properties.worker_failures_in_a_row, instancePath+"/worker_failures_in_a_row");
if(reason5 !== undefined){
const err15 = {instancePath:instancePath+"/worker_failures_in_a_row",schemaPath:"#/properties/worker_failures_in_a_row/x-value",keyword:"x-value",params:{},message:reason5,schema:"count",parentSchema:schema60.properties.worker_failures_in_a_row,data:data7};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
if((typeof data7 == "number") && (isFinite(data7))){
if(data7 < 0 || isNaN(data7)){
const err16 = {instancePath:instancePath+"/worker_failures_in_a_row",schemaPath:"#/properties/worker_failures_in_a_row/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema60.properties.worker_failures_in_a_row,data:data7};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
}
}
if(data.worker_backoff_s !== undefined){
let data8 = data.worker_backoff_s;
if((!(((typeof data8 == "number") && (!(data8 % 1) && !isNaN(data8))) && (isFinite(data8)))) && (typeof data8 !== "string")){
const err17 = {instancePath:instancePath+"/worker_backoff_s",schemaPath:"#/properties/worker_backoff_s/type",keyword:"type",params:{type: schema60.properties.worker_backoff_s.type},message:"must be integer,string",schema:schema60.properties.worker_backoff_s.type,parentSchema:schema60.properties.worker_backoff_s,data:data8};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
const reason6 = checkScalar.call(this, "duration", data8, schema60.properties.worker_backoff_s, instancePath+"/worker_backoff_s");
if(reason6 !== undefined){
const err18 = {instancePath:instancePath+"/worker_backoff_s",schemaPath:"#/properties/worker_backoff_s/x-value",keyword:"x-value",params:{},message:reason6,schema:"duration",parentSchema:schema60.properties.worker_backoff_s,data:data8};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
if((typeof data8 == "number") && (isFinite(data8))){
if(data8 < 1 || isNaN(data8)){
const err19 = {instancePath:instancePath+"/worker_backoff_s",schemaPath:"#/properties/worker_backoff_s/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema60.properties.worker_backoff_s,data:data8};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
}
}
if(data.max_job_retries !== undefined){
let data9 = data.max_job_retries;
if((!(((typeof data9 == "number") && (!(data9 % 1) && !isNaN(data9))) && (isFinite(data9)))) && (typeof data9 !== "string")){
const err20 = {instancePath:instancePath+"/max_job_retries",schemaPath:"#/properties/max_job_retries/type",keyword:"type",params:{type: schema60.properties.max_job_retries.type},message:"must be integer,string",schema:schema60.properties.max_job_retries.type,parentSchema:schema60.properties.max_job_retries,data:data9};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
const reason7 = checkScalar.call(this, "count", data9, schema60.properties.max_job_retries, instancePath+"/max_job_retries");
if(reason7 !== undefined){
const err21 = {instancePath:instancePath+"/max_job_retries",schemaPath:"#/properties/max_job_retries/x-value",keyword:"x-value",params:{},message:reason7,schema:"count",parentSchema:schema60.properties.max_job_retries,data:data9};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
if((typeof data9 == "number") && (isFinite(data9))){
if(data9 < 0 || isNaN(data9)){
const err22 = {instancePath:instancePath+"/max_job_retries",schemaPath:"#/properties/max_job_retries/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema60.properties.max_job_retries,data:data9};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
}
}
if(data.allocation_strategy !== undefined){
let data10 = data.allocation_strategy;
if(typeof data10 !== "string"){
const err23 = {instancePath:instancePath+"/allocation_strategy",schemaPath:"#/properties/allocation_strategy/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema60.properties.allocation_strategy.type,parentSchema:schema60.properties.allocation_strategy,data:data10};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
if(!((data10 === "least_recently_used") || (data10 === "most_recently_used"))){
const err24 = {instancePath:instancePath+"/allocation_strategy",schemaPath:"#/properties/allocation_strategy/enum",keyword:"enum",params:{allowedValues: schema60.properties.allocation_strategy.enum},message:"must be equal to one of the allowed values",schema:schema60.properties.allocation_strategy.enum,parentSchema:schema60.properties.allocation_strategy,data:data10};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
}
if(data.experimental_backend !== undefined){
let data11 = data.experimental_backend;
if((typeof data11 !== "string") && (!(data11 && typeof data11 == "object" && !Array.isArray(data11)))){
const err25 = {instancePath:instancePath+"/experimental_backend",schemaPath:"#/properties/experimental_backend/type",keyword:"type",params:{type: schema60.properties.experimental_backend.type},message:"must be string,object",schema:schema60.properties.experimental_backend.type,parentSchema:schema60.properties.experimental_backend,data:data11};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
const reason8 = checkWord.call(this, schema60.properties.experimental_backend["x-words"], data11, schema60.properties.experimental_backend, instancePath+"/experimental_backend");
if(reason8 !== undefined){
const err26 = {instancePath:instancePath+"/experimental_backend",schemaPath:"#/properties/experimental_backend/x-words",keyword:"x-words",params:{},message:reason8,schema:schema60.properties.experimental_backend["x-words"],parentSchema:schema60.properties.experimental_backend,data:data11};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
if(data11 && typeof data11 == "object" && !Array.isArray(data11)){
if(Object.keys(data11).length > 1){
const err27 = {instancePath:instancePath+"/experimental_backend",schemaPath:"#/properties/experimental_backend/maxProperties",keyword:"maxProperties",params:{limit: 1},message:"must NOT have more than 1 properties",schema:1,parentSchema:schema60.properties.experimental_backend,data:data11};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
if(Object.keys(data11).length < 1){
const err28 = {instancePath:instancePath+"/experimental_backend",schemaPath:"#/properties/experimental_backend/minProperties",keyword:"minProperties",params:{limit: 1},message:"must NOT have fewer than 1 properties",schema:1,parentSchema:schema60.properties.experimental_backend,data:data11};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
for(const key2 in data11){
if(!((key2 === "redis") || (key2 === "object"))){
const err29 = {instancePath:instancePath+"/experimental_backend",schemaPath:"#/properties/experimental_backend/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key2},message:"must NOT have additional properties",schema:false,parentSchema:schema60.properties.experimental_backend,data:data11};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
}
if(data11.redis !== undefined){
let data12 = data11.redis;
if(data12 && typeof data12 == "object" && !Array.isArray(data12)){
if(data12.redis_store === undefined){
const err30 = {instancePath:instancePath+"/experimental_backend/redis",schemaPath:"#/properties/experimental_backend/properties/redis/required",keyword:"required",params:{missingProperty: "redis_store"},message:"must have required property '"+"redis_store"+"'",schema:schema60.properties.experimental_backend.properties.redis.required,parentSchema:schema60.properties.experimental_backend.properties.redis,data:data12};
if(vErrors === null){
vErrors = [err30];
}
else {
vErrors.push(err30);
}
errors++;
}
for(const key3 in data12){
if(!(key3 === "redis_store")){
const err31 = {instancePath:instancePath+"/experimental_backend/redis",schemaPath:"#/properties/experimental_backend/properties/redis/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key3},message:"must NOT have additional properties",schema:false,parentSchema:schema60.properties.experimental_backend.properties.redis,data:data12};
if(vErrors === null){
vErrors = [err31];
}
else {
vErrors.push(err31);
}
errors++;
}
}
if(data12.redis_store !== undefined){
let data13 = data12.redis_store;
if(typeof data13 !== "string"){
const err32 = {instancePath:instancePath+"/experimental_backend/redis/redis_store",schemaPath:"#/properties/experimental_backend/properties/redis/properties/redis_store/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema60.properties.experimental_backend.properties.redis.properties.redis_store.type,parentSchema:schema60.properties.experimental_backend.properties.redis.properties.redis_store,data:data13};
if(vErrors === null){
vErrors = [err32];
}
else {
vErrors.push(err32);
}
errors++;
}
}
}
else {
const err33 = {instancePath:instancePath+"/experimental_backend/redis",schemaPath:"#/properties/experimental_backend/properties/redis/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema60.properties.experimental_backend.properties.redis.type,parentSchema:schema60.properties.experimental_backend.properties.redis,data:data12};
if(vErrors === null){
vErrors = [err33];
}
else {
vErrors.push(err33);
}
errors++;
}
}
if(data11.object !== undefined){
let data14 = data11.object;
if(data14 && typeof data14 == "object" && !Array.isArray(data14)){
if(data14.object_store === undefined){
const err34 = {instancePath:instancePath+"/experimental_backend/object",schemaPath:"#/properties/experimental_backend/properties/object/required",keyword:"required",params:{missingProperty: "object_store"},message:"must have required property '"+"object_store"+"'",schema:schema60.properties.experimental_backend.properties.object.required,parentSchema:schema60.properties.experimental_backend.properties.object,data:data14};
if(vErrors === null){
vErrors = [err34];
}
else {
vErrors.push(err34);
}
errors++;
}
for(const key4 in data14){
if(!(key4 === "object_store")){
const err35 = {instancePath:instancePath+"/experimental_backend/object",schemaPath:"#/properties/experimental_backend/properties/object/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key4},message:"must NOT have additional properties",schema:false,parentSchema:schema60.properties.experimental_backend.properties.object,data:data14};
if(vErrors === null){
vErrors = [err35];
}
else {
vErrors.push(err35);
}
errors++;
}
}
if(data14.object_store !== undefined){
let data15 = data14.object_store;
if(typeof data15 !== "string"){
const err36 = {instancePath:instancePath+"/experimental_backend/object/object_store",schemaPath:"#/properties/experimental_backend/properties/object/properties/object_store/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema60.properties.experimental_backend.properties.object.properties.object_store.type,parentSchema:schema60.properties.experimental_backend.properties.object.properties.object_store,data:data15};
if(vErrors === null){
vErrors = [err36];
}
else {
vErrors.push(err36);
}
errors++;
}
}
}
else {
const err37 = {instancePath:instancePath+"/experimental_backend/object",schemaPath:"#/properties/experimental_backend/properties/object/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema60.properties.experimental_backend.properties.object.type,parentSchema:schema60.properties.experimental_backend.properties.object,data:data14};
if(vErrors === null){
vErrors = [err37];
}
else {
vErrors.push(err37);
}
errors++;
}
}
}
}
if(data.peers !== undefined){
let data16 = data.peers;
if(data16 && typeof data16 == "object" && !Array.isArray(data16)){
if(data16.endpoint === undefined){
const err38 = {instancePath:instancePath+"/peers",schemaPath:"#/properties/peers/required",keyword:"required",params:{missingProperty: "endpoint"},message:"must have required property '"+"endpoint"+"'",schema:schema60.properties.peers.required,parentSchema:schema60.properties.peers,data:data16};
if(vErrors === null){
vErrors = [err38];
}
else {
vErrors.push(err38);
}
errors++;
}
for(const key5 in data16){
if(!(((((key5 === "endpoint") || (key5 === "headers")) || (key5 === "lease_s")) || (key5 === "when_engine_away")) || (key5 === "leader_wait_s"))){
const err39 = {instancePath:instancePath+"/peers",schemaPath:"#/properties/peers/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key5},message:"must NOT have additional properties",schema:false,parentSchema:schema60.properties.peers,data:data16};
if(vErrors === null){
vErrors = [err39];
}
else {
vErrors.push(err39);
}
errors++;
}
}
if(data16.endpoint !== undefined){
if(!(validate90.call(this, data16.endpoint, {instancePath:instancePath+"/peers/endpoint",parentData:data16,parentDataProperty:"endpoint",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate90.errors);
errors = vErrors.length;
}
}
if(data16.headers !== undefined){
let data18 = data16.headers;
if(data18 && typeof data18 == "object" && !Array.isArray(data18)){
for(const key6 in data18){
let data19 = data18[key6];
if(typeof data19 !== "string"){
const err40 = {instancePath:instancePath+"/peers/headers/" + key6.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/peers/properties/headers/additionalProperties/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema60.properties.peers.properties.headers.additionalProperties.type,parentSchema:schema60.properties.peers.properties.headers.additionalProperties,data:data19};
if(vErrors === null){
vErrors = [err40];
}
else {
vErrors.push(err40);
}
errors++;
}
}
}
else {
const err41 = {instancePath:instancePath+"/peers/headers",schemaPath:"#/properties/peers/properties/headers/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema60.properties.peers.properties.headers.type,parentSchema:schema60.properties.peers.properties.headers,data:data18};
if(vErrors === null){
vErrors = [err41];
}
else {
vErrors.push(err41);
}
errors++;
}
}
if(data16.lease_s !== undefined){
let data20 = data16.lease_s;
if((!(((typeof data20 == "number") && (!(data20 % 1) && !isNaN(data20))) && (isFinite(data20)))) && (typeof data20 !== "string")){
const err42 = {instancePath:instancePath+"/peers/lease_s",schemaPath:"#/properties/peers/properties/lease_s/type",keyword:"type",params:{type: schema60.properties.peers.properties.lease_s.type},message:"must be integer,string",schema:schema60.properties.peers.properties.lease_s.type,parentSchema:schema60.properties.peers.properties.lease_s,data:data20};
if(vErrors === null){
vErrors = [err42];
}
else {
vErrors.push(err42);
}
errors++;
}
const reason9 = checkScalar.call(this, "duration", data20, schema60.properties.peers.properties.lease_s, instancePath+"/peers/lease_s");
if(reason9 !== undefined){
const err43 = {instancePath:instancePath+"/peers/lease_s",schemaPath:"#/properties/peers/properties/lease_s/x-value",keyword:"x-value",params:{},message:reason9,schema:"duration",parentSchema:schema60.properties.peers.properties.lease_s,data:data20};
if(vErrors === null){
vErrors = [err43];
}
else {
vErrors.push(err43);
}
errors++;
}
if((typeof data20 == "number") && (isFinite(data20))){
if(data20 < 1 || isNaN(data20)){
const err44 = {instancePath:instancePath+"/peers/lease_s",schemaPath:"#/properties/peers/properties/lease_s/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema60.properties.peers.properties.lease_s,data:data20};
if(vErrors === null){
vErrors = [err44];
}
else {
vErrors.push(err44);
}
errors++;
}
}
}
if(data16.when_engine_away !== undefined){
let data21 = data16.when_engine_away;
if(typeof data21 !== "string"){
const err45 = {instancePath:instancePath+"/peers/when_engine_away",schemaPath:"#/properties/peers/properties/when_engine_away/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema60.properties.peers.properties.when_engine_away.type,parentSchema:schema60.properties.peers.properties.when_engine_away,data:data21};
if(vErrors === null){
vErrors = [err45];
}
else {
vErrors.push(err45);
}
errors++;
}
if(!((data21 === "continue") || (data21 === "stop"))){
const err46 = {instancePath:instancePath+"/peers/when_engine_away",schemaPath:"#/properties/peers/properties/when_engine_away/enum",keyword:"enum",params:{allowedValues: schema60.properties.peers.properties.when_engine_away.enum},message:"must be equal to one of the allowed values",schema:schema60.properties.peers.properties.when_engine_away.enum,parentSchema:schema60.properties.peers.properties.when_engine_away,data:data21};
if(vErrors === null){
vErrors = [err46];
}
else {
vErrors.push(err46);
}
errors++;
}
}
if(data16.leader_wait_s !== undefined){
let data22 = data16.leader_wait_s;
if((!(((typeof data22 == "number") && (!(data22 % 1) && !isNaN(data22))) && (isFinite(data22)))) && (typeof data22 !== "string")){
const err47 = {instancePath:instancePath+"/peers/leader_wait_s",schemaPath:"#/properties/peers/properties/leader_wait_s/type",keyword:"type",params:{type: schema60.properties.peers.properties.leader_wait_s.type},message:"must be integer,string",schema:schema60.properties.peers.properties.leader_wait_s.type,parentSchema:schema60.properties.peers.properties.leader_wait_s,data:data22};
if(vErrors === null){
vErrors = [err47];
}
else {
vErrors.push(err47);
}
errors++;
}
const reason10 = checkScalar.call(this, "duration", data22, schema60.properties.peers.properties.leader_wait_s, instancePath+"/peers/leader_wait_s");
if(reason10 !== undefined){
const err48 = {instancePath:instancePath+"/peers/leader_wait_s",schemaPath:"#/properties/peers/properties/leader_wait_s/x-value",keyword:"x-value",params:{},message:reason10,schema:"duration",parentSchema:schema60.properties.peers.properties.leader_wait_s,data:data22};
if(vErrors === null){
vErrors = [err48];
}
else {
vErrors.push(err48);
}
errors++;
}
if((typeof data22 == "number") && (isFinite(data22))){
if(data22 < 1 || isNaN(data22)){
const err49 = {instancePath:instancePath+"/peers/leader_wait_s",schemaPath:"#/properties/peers/properties/leader_wait_s/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema60.properties.peers.properties.leader_wait_s,data:data22};
if(vErrors === null){
vErrors = [err49];
}
else {
vErrors.push(err49);
}
errors++;
}
}
}
}
else {
const err50 = {instancePath:instancePath+"/peers",schemaPath:"#/properties/peers/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema60.properties.peers.type,parentSchema:schema60.properties.peers,data:data16};
if(vErrors === null){
vErrors = [err50];
}
else {
vErrors.push(err50);
}
errors++;
}
}
if(data.worker_match_logging_interval_s !== undefined){
let data23 = data.worker_match_logging_interval_s;
if((!(((typeof data23 == "number") && (!(data23 % 1) && !isNaN(data23))) && (isFinite(data23)))) && (typeof data23 !== "string")){
const err51 = {instancePath:instancePath+"/worker_match_logging_interval_s",schemaPath:"#/properties/worker_match_logging_interval_s/type",keyword:"type",params:{type: schema60.properties.worker_match_logging_interval_s.type},message:"must be integer,string",schema:schema60.properties.worker_match_logging_interval_s.type,parentSchema:schema60.properties.worker_match_logging_interval_s,data:data23};
if(vErrors === null){
vErrors = [err51];
}
else {
vErrors.push(err51);
}
errors++;
}
const reason11 = checkScalar.call(this, "signed_duration", data23, schema60.properties.worker_match_logging_interval_s, instancePath+"/worker_match_logging_interval_s");
if(reason11 !== undefined){
const err52 = {instancePath:instancePath+"/worker_match_logging_interval_s",schemaPath:"#/properties/worker_match_logging_interval_s/x-value",keyword:"x-value",params:{},message:reason11,schema:"signed_duration",parentSchema:schema60.properties.worker_match_logging_interval_s,data:data23};
if(vErrors === null){
vErrors = [err52];
}
else {
vErrors.push(err52);
}
errors++;
}
}
if(data.fallback_match_interval_s !== undefined){
let data24 = data.fallback_match_interval_s;
if((!(((typeof data24 == "number") && (!(data24 % 1) && !isNaN(data24))) && (isFinite(data24)))) && (typeof data24 !== "string")){
const err53 = {instancePath:instancePath+"/fallback_match_interval_s",schemaPath:"#/properties/fallback_match_interval_s/type",keyword:"type",params:{type: schema60.properties.fallback_match_interval_s.type},message:"must be integer,string",schema:schema60.properties.fallback_match_interval_s.type,parentSchema:schema60.properties.fallback_match_interval_s,data:data24};
if(vErrors === null){
vErrors = [err53];
}
else {
vErrors.push(err53);
}
errors++;
}
const reason12 = checkScalar.call(this, "signed_duration", data24, schema60.properties.fallback_match_interval_s, instancePath+"/fallback_match_interval_s");
if(reason12 !== undefined){
const err54 = {instancePath:instancePath+"/fallback_match_interval_s",schemaPath:"#/properties/fallback_match_interval_s/x-value",keyword:"x-value",params:{},message:reason12,schema:"signed_duration",parentSchema:schema60.properties.fallback_match_interval_s,data:data24};
if(vErrors === null){
vErrors = [err54];
}
else {
vErrors.push(err54);
}
errors++;
}
}
if(data.no_worker_timeout_s !== undefined){
let data25 = data.no_worker_timeout_s;
if((!(((typeof data25 == "number") && (!(data25 % 1) && !isNaN(data25))) && (isFinite(data25)))) && (typeof data25 !== "string")){
const err55 = {instancePath:instancePath+"/no_worker_timeout_s",schemaPath:"#/properties/no_worker_timeout_s/type",keyword:"type",params:{type: schema60.properties.no_worker_timeout_s.type},message:"must be integer,string",schema:schema60.properties.no_worker_timeout_s.type,parentSchema:schema60.properties.no_worker_timeout_s,data:data25};
if(vErrors === null){
vErrors = [err55];
}
else {
vErrors.push(err55);
}
errors++;
}
const reason13 = checkScalar.call(this, "duration", data25, schema60.properties.no_worker_timeout_s, instancePath+"/no_worker_timeout_s");
if(reason13 !== undefined){
const err56 = {instancePath:instancePath+"/no_worker_timeout_s",schemaPath:"#/properties/no_worker_timeout_s/x-value",keyword:"x-value",params:{},message:reason13,schema:"duration",parentSchema:schema60.properties.no_worker_timeout_s,data:data25};
if(vErrors === null){
vErrors = [err56];
}
else {
vErrors.push(err56);
}
errors++;
}
}
if(data.max_queued_actions !== undefined){
let data26 = data.max_queued_actions;
if((!(((typeof data26 == "number") && (!(data26 % 1) && !isNaN(data26))) && (isFinite(data26)))) && (typeof data26 !== "string")){
const err57 = {instancePath:instancePath+"/max_queued_actions",schemaPath:"#/properties/max_queued_actions/type",keyword:"type",params:{type: schema60.properties.max_queued_actions.type},message:"must be integer,string",schema:schema60.properties.max_queued_actions.type,parentSchema:schema60.properties.max_queued_actions,data:data26};
if(vErrors === null){
vErrors = [err57];
}
else {
vErrors.push(err57);
}
errors++;
}
const reason14 = checkScalar.call(this, "count", data26, schema60.properties.max_queued_actions, instancePath+"/max_queued_actions");
if(reason14 !== undefined){
const err58 = {instancePath:instancePath+"/max_queued_actions",schemaPath:"#/properties/max_queued_actions/x-value",keyword:"x-value",params:{},message:reason14,schema:"count",parentSchema:schema60.properties.max_queued_actions,data:data26};
if(vErrors === null){
vErrors = [err58];
}
else {
vErrors.push(err58);
}
errors++;
}
if((typeof data26 == "number") && (isFinite(data26))){
if(data26 < 1 || isNaN(data26)){
const err59 = {instancePath:instancePath+"/max_queued_actions",schemaPath:"#/properties/max_queued_actions/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema60.properties.max_queued_actions,data:data26};
if(vErrors === null){
vErrors = [err59];
}
else {
vErrors.push(err59);
}
errors++;
}
}
}
if(data.max_queued_actions_per_instance !== undefined){
let data27 = data.max_queued_actions_per_instance;
if((!(((typeof data27 == "number") && (!(data27 % 1) && !isNaN(data27))) && (isFinite(data27)))) && (typeof data27 !== "string")){
const err60 = {instancePath:instancePath+"/max_queued_actions_per_instance",schemaPath:"#/properties/max_queued_actions_per_instance/type",keyword:"type",params:{type: schema60.properties.max_queued_actions_per_instance.type},message:"must be integer,string",schema:schema60.properties.max_queued_actions_per_instance.type,parentSchema:schema60.properties.max_queued_actions_per_instance,data:data27};
if(vErrors === null){
vErrors = [err60];
}
else {
vErrors.push(err60);
}
errors++;
}
const reason15 = checkScalar.call(this, "count", data27, schema60.properties.max_queued_actions_per_instance, instancePath+"/max_queued_actions_per_instance");
if(reason15 !== undefined){
const err61 = {instancePath:instancePath+"/max_queued_actions_per_instance",schemaPath:"#/properties/max_queued_actions_per_instance/x-value",keyword:"x-value",params:{},message:reason15,schema:"count",parentSchema:schema60.properties.max_queued_actions_per_instance,data:data27};
if(vErrors === null){
vErrors = [err61];
}
else {
vErrors.push(err61);
}
errors++;
}
if((typeof data27 == "number") && (isFinite(data27))){
if(data27 < 0 || isNaN(data27)){
const err62 = {instancePath:instancePath+"/max_queued_actions_per_instance",schemaPath:"#/properties/max_queued_actions_per_instance/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema60.properties.max_queued_actions_per_instance,data:data27};
if(vErrors === null){
vErrors = [err62];
}
else {
vErrors.push(err62);
}
errors++;
}
}
}
if(data.max_running_actions_per_instance !== undefined){
let data28 = data.max_running_actions_per_instance;
if((!(((typeof data28 == "number") && (!(data28 % 1) && !isNaN(data28))) && (isFinite(data28)))) && (typeof data28 !== "string")){
const err63 = {instancePath:instancePath+"/max_running_actions_per_instance",schemaPath:"#/properties/max_running_actions_per_instance/type",keyword:"type",params:{type: schema60.properties.max_running_actions_per_instance.type},message:"must be integer,string",schema:schema60.properties.max_running_actions_per_instance.type,parentSchema:schema60.properties.max_running_actions_per_instance,data:data28};
if(vErrors === null){
vErrors = [err63];
}
else {
vErrors.push(err63);
}
errors++;
}
const reason16 = checkScalar.call(this, "count", data28, schema60.properties.max_running_actions_per_instance, instancePath+"/max_running_actions_per_instance");
if(reason16 !== undefined){
const err64 = {instancePath:instancePath+"/max_running_actions_per_instance",schemaPath:"#/properties/max_running_actions_per_instance/x-value",keyword:"x-value",params:{},message:reason16,schema:"count",parentSchema:schema60.properties.max_running_actions_per_instance,data:data28};
if(vErrors === null){
vErrors = [err64];
}
else {
vErrors.push(err64);
}
errors++;
}
if((typeof data28 == "number") && (isFinite(data28))){
if(data28 < 0 || isNaN(data28)){
const err65 = {instancePath:instancePath+"/max_running_actions_per_instance",schemaPath:"#/properties/max_running_actions_per_instance/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema60.properties.max_running_actions_per_instance,data:data28};
if(vErrors === null){
vErrors = [err65];
}
else {
vErrors.push(err65);
}
errors++;
}
}
}
if(data.priority_ageing_s !== undefined){
let data29 = data.priority_ageing_s;
if((!(((typeof data29 == "number") && (!(data29 % 1) && !isNaN(data29))) && (isFinite(data29)))) && (typeof data29 !== "string")){
const err66 = {instancePath:instancePath+"/priority_ageing_s",schemaPath:"#/properties/priority_ageing_s/type",keyword:"type",params:{type: schema60.properties.priority_ageing_s.type},message:"must be integer,string",schema:schema60.properties.priority_ageing_s.type,parentSchema:schema60.properties.priority_ageing_s,data:data29};
if(vErrors === null){
vErrors = [err66];
}
else {
vErrors.push(err66);
}
errors++;
}
const reason17 = checkScalar.call(this, "duration", data29, schema60.properties.priority_ageing_s, instancePath+"/priority_ageing_s");
if(reason17 !== undefined){
const err67 = {instancePath:instancePath+"/priority_ageing_s",schemaPath:"#/properties/priority_ageing_s/x-value",keyword:"x-value",params:{},message:reason17,schema:"duration",parentSchema:schema60.properties.priority_ageing_s,data:data29};
if(vErrors === null){
vErrors = [err67];
}
else {
vErrors.push(err67);
}
errors++;
}
}
if(data.adopt_attempts_for_s !== undefined){
let data30 = data.adopt_attempts_for_s;
if((!(((typeof data30 == "number") && (!(data30 % 1) && !isNaN(data30))) && (isFinite(data30)))) && (typeof data30 !== "string")){
const err68 = {instancePath:instancePath+"/adopt_attempts_for_s",schemaPath:"#/properties/adopt_attempts_for_s/type",keyword:"type",params:{type: schema60.properties.adopt_attempts_for_s.type},message:"must be integer,string",schema:schema60.properties.adopt_attempts_for_s.type,parentSchema:schema60.properties.adopt_attempts_for_s,data:data30};
if(vErrors === null){
vErrors = [err68];
}
else {
vErrors.push(err68);
}
errors++;
}
const reason18 = checkScalar.call(this, "duration", data30, schema60.properties.adopt_attempts_for_s, instancePath+"/adopt_attempts_for_s");
if(reason18 !== undefined){
const err69 = {instancePath:instancePath+"/adopt_attempts_for_s",schemaPath:"#/properties/adopt_attempts_for_s/x-value",keyword:"x-value",params:{},message:reason18,schema:"duration",parentSchema:schema60.properties.adopt_attempts_for_s,data:data30};
if(vErrors === null){
vErrors = [err69];
}
else {
vErrors.push(err69);
}
errors++;
}
}
if(data.hold_worker_after_s !== undefined){
let data31 = data.hold_worker_after_s;
if((!(((typeof data31 == "number") && (!(data31 % 1) && !isNaN(data31))) && (isFinite(data31)))) && (typeof data31 !== "string")){
const err70 = {instancePath:instancePath+"/hold_worker_after_s",schemaPath:"#/properties/hold_worker_after_s/type",keyword:"type",params:{type: schema60.properties.hold_worker_after_s.type},message:"must be integer,string",schema:schema60.properties.hold_worker_after_s.type,parentSchema:schema60.properties.hold_worker_after_s,data:data31};
if(vErrors === null){
vErrors = [err70];
}
else {
vErrors.push(err70);
}
errors++;
}
const reason19 = checkScalar.call(this, "duration", data31, schema60.properties.hold_worker_after_s, instancePath+"/hold_worker_after_s");
if(reason19 !== undefined){
const err71 = {instancePath:instancePath+"/hold_worker_after_s",schemaPath:"#/properties/hold_worker_after_s/x-value",keyword:"x-value",params:{},message:reason19,schema:"duration",parentSchema:schema60.properties.hold_worker_after_s,data:data31};
if(vErrors === null){
vErrors = [err71];
}
else {
vErrors.push(err71);
}
errors++;
}
}
if(data.learned_sizes !== undefined){
let data32 = data.learned_sizes;
if(data32 && typeof data32 == "object" && !Array.isArray(data32)){
for(const key7 in data32){
if(!(((key7 === "use") || (key7 === "memory_property")) || (key7 === "cpu_property"))){
const err72 = {instancePath:instancePath+"/learned_sizes",schemaPath:"#/properties/learned_sizes/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key7},message:"must NOT have additional properties",schema:false,parentSchema:schema60.properties.learned_sizes,data:data32};
if(vErrors === null){
vErrors = [err72];
}
else {
vErrors.push(err72);
}
errors++;
}
}
if(data32.use !== undefined){
let data33 = data32.use;
if(typeof data33 !== "string"){
const err73 = {instancePath:instancePath+"/learned_sizes/use",schemaPath:"#/properties/learned_sizes/properties/use/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema60.properties.learned_sizes.properties.use.type,parentSchema:schema60.properties.learned_sizes.properties.use,data:data33};
if(vErrors === null){
vErrors = [err73];
}
else {
vErrors.push(err73);
}
errors++;
}
if(!(((data33 === "off") || (data33 === "hint")) || (data33 === "on"))){
const err74 = {instancePath:instancePath+"/learned_sizes/use",schemaPath:"#/properties/learned_sizes/properties/use/enum",keyword:"enum",params:{allowedValues: schema60.properties.learned_sizes.properties.use.enum},message:"must be equal to one of the allowed values",schema:schema60.properties.learned_sizes.properties.use.enum,parentSchema:schema60.properties.learned_sizes.properties.use,data:data33};
if(vErrors === null){
vErrors = [err74];
}
else {
vErrors.push(err74);
}
errors++;
}
}
if(data32.memory_property !== undefined){
let data34 = data32.memory_property;
if(typeof data34 !== "string"){
const err75 = {instancePath:instancePath+"/learned_sizes/memory_property",schemaPath:"#/properties/learned_sizes/properties/memory_property/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema60.properties.learned_sizes.properties.memory_property.type,parentSchema:schema60.properties.learned_sizes.properties.memory_property,data:data34};
if(vErrors === null){
vErrors = [err75];
}
else {
vErrors.push(err75);
}
errors++;
}
}
if(data32.cpu_property !== undefined){
let data35 = data32.cpu_property;
if(typeof data35 !== "string"){
const err76 = {instancePath:instancePath+"/learned_sizes/cpu_property",schemaPath:"#/properties/learned_sizes/properties/cpu_property/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema60.properties.learned_sizes.properties.cpu_property.type,parentSchema:schema60.properties.learned_sizes.properties.cpu_property,data:data35};
if(vErrors === null){
vErrors = [err76];
}
else {
vErrors.push(err76);
}
errors++;
}
}
}
else {
const err77 = {instancePath:instancePath+"/learned_sizes",schemaPath:"#/properties/learned_sizes/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema60.properties.learned_sizes.type,parentSchema:schema60.properties.learned_sizes,data:data32};
if(vErrors === null){
vErrors = [err77];
}
else {
vErrors.push(err77);
}
errors++;
}
}
if(data.warm_worker_wait_ms !== undefined){
let data36 = data.warm_worker_wait_ms;
if((!(((typeof data36 == "number") && (!(data36 % 1) && !isNaN(data36))) && (isFinite(data36)))) && (typeof data36 !== "string")){
const err78 = {instancePath:instancePath+"/warm_worker_wait_ms",schemaPath:"#/properties/warm_worker_wait_ms/type",keyword:"type",params:{type: schema60.properties.warm_worker_wait_ms.type},message:"must be integer,string",schema:schema60.properties.warm_worker_wait_ms.type,parentSchema:schema60.properties.warm_worker_wait_ms,data:data36};
if(vErrors === null){
vErrors = [err78];
}
else {
vErrors.push(err78);
}
errors++;
}
const reason20 = checkScalar.call(this, "duration_ms", data36, schema60.properties.warm_worker_wait_ms, instancePath+"/warm_worker_wait_ms");
if(reason20 !== undefined){
const err79 = {instancePath:instancePath+"/warm_worker_wait_ms",schemaPath:"#/properties/warm_worker_wait_ms/x-value",keyword:"x-value",params:{},message:reason20,schema:"duration_ms",parentSchema:schema60.properties.warm_worker_wait_ms,data:data36};
if(vErrors === null){
vErrors = [err79];
}
else {
vErrors.push(err79);
}
errors++;
}
}
}
else {
const err80 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema60.type,parentSchema:schema60,data};
if(vErrors === null){
vErrors = [err80];
}
else {
vErrors.push(err80);
}
errors++;
}
validate137.errors = vErrors;
return errors === 0;
}
validate137.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema61 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/scheduler/grpc.json","title":"grpc","description":"Forwards executions to another scheduler.","type":"object","properties":{"endpoint":{"description":"Its address.","$ref":"https://remexec.invalid/schema/shared/grpc_endpoint.json"},"headers":{"description":"Metadata sent with every call, such as `authorization: 'Bearer ${TOKEN}'`.","type":"object","additionalProperties":{"type":"string"},"default":{}},"retry":{"description":"How failed calls are retried.","$ref":"https://remexec.invalid/schema/shared/retry.json","default":{}},"max_concurrent_requests":{"description":"Most requests at one time; 0 means no limit.","type":["integer","string"],"x-value":"count","minimum":0,"default":0},"connections_per_endpoint":{"description":"Connections to it.","type":["integer","string"],"x-value":"count","minimum":0,"default":1,"x-zero-is-default":true},"scheduler_wait_s":{"description":"Seconds that operations wait for a scheduler that cannot be reached, while it restarts for instance, before they and new actions end with UNAVAILABLE. Needs a server of this release there that grants this one `forward`; with another, operations end when its connection is lost for 3 s.","type":["integer","string"],"x-value":"duration","minimum":0,"default":30}},"additionalProperties":false,"required":["endpoint"]};

function validate140(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/scheduler/grpc.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate140.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.endpoint === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "endpoint"},message:"must have required property '"+"endpoint"+"'",schema:schema61.required,parentSchema:schema61,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!((((((key0 === "endpoint") || (key0 === "headers")) || (key0 === "retry")) || (key0 === "max_concurrent_requests")) || (key0 === "connections_per_endpoint")) || (key0 === "scheduler_wait_s"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema61,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.endpoint !== undefined){
if(!(validate90.call(this, data.endpoint, {instancePath:instancePath+"/endpoint",parentData:data,parentDataProperty:"endpoint",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate90.errors);
errors = vErrors.length;
}
}
if(data.headers !== undefined){
let data1 = data.headers;
if(data1 && typeof data1 == "object" && !Array.isArray(data1)){
for(const key1 in data1){
let data2 = data1[key1];
if(typeof data2 !== "string"){
const err2 = {instancePath:instancePath+"/headers/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/headers/additionalProperties/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema61.properties.headers.additionalProperties.type,parentSchema:schema61.properties.headers.additionalProperties,data:data2};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
}
else {
const err3 = {instancePath:instancePath+"/headers",schemaPath:"#/properties/headers/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema61.properties.headers.type,parentSchema:schema61.properties.headers,data:data1};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.retry !== undefined){
if(!(validate94.call(this, data.retry, {instancePath:instancePath+"/retry",parentData:data,parentDataProperty:"retry",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate94.errors);
errors = vErrors.length;
}
}
if(data.max_concurrent_requests !== undefined){
let data4 = data.max_concurrent_requests;
if((!(((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4))) && (isFinite(data4)))) && (typeof data4 !== "string")){
const err4 = {instancePath:instancePath+"/max_concurrent_requests",schemaPath:"#/properties/max_concurrent_requests/type",keyword:"type",params:{type: schema61.properties.max_concurrent_requests.type},message:"must be integer,string",schema:schema61.properties.max_concurrent_requests.type,parentSchema:schema61.properties.max_concurrent_requests,data:data4};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
const reason0 = checkScalar.call(this, "count", data4, schema61.properties.max_concurrent_requests, instancePath+"/max_concurrent_requests");
if(reason0 !== undefined){
const err5 = {instancePath:instancePath+"/max_concurrent_requests",schemaPath:"#/properties/max_concurrent_requests/x-value",keyword:"x-value",params:{},message:reason0,schema:"count",parentSchema:schema61.properties.max_concurrent_requests,data:data4};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if((typeof data4 == "number") && (isFinite(data4))){
if(data4 < 0 || isNaN(data4)){
const err6 = {instancePath:instancePath+"/max_concurrent_requests",schemaPath:"#/properties/max_concurrent_requests/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema61.properties.max_concurrent_requests,data:data4};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
}
if(data.connections_per_endpoint !== undefined){
let data5 = data.connections_per_endpoint;
if((!(((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5))) && (isFinite(data5)))) && (typeof data5 !== "string")){
const err7 = {instancePath:instancePath+"/connections_per_endpoint",schemaPath:"#/properties/connections_per_endpoint/type",keyword:"type",params:{type: schema61.properties.connections_per_endpoint.type},message:"must be integer,string",schema:schema61.properties.connections_per_endpoint.type,parentSchema:schema61.properties.connections_per_endpoint,data:data5};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
const reason1 = checkScalar.call(this, "count", data5, schema61.properties.connections_per_endpoint, instancePath+"/connections_per_endpoint");
if(reason1 !== undefined){
const err8 = {instancePath:instancePath+"/connections_per_endpoint",schemaPath:"#/properties/connections_per_endpoint/x-value",keyword:"x-value",params:{},message:reason1,schema:"count",parentSchema:schema61.properties.connections_per_endpoint,data:data5};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
if((typeof data5 == "number") && (isFinite(data5))){
if(data5 < 0 || isNaN(data5)){
const err9 = {instancePath:instancePath+"/connections_per_endpoint",schemaPath:"#/properties/connections_per_endpoint/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema61.properties.connections_per_endpoint,data:data5};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
}
if(data.scheduler_wait_s !== undefined){
let data6 = data.scheduler_wait_s;
if((!(((typeof data6 == "number") && (!(data6 % 1) && !isNaN(data6))) && (isFinite(data6)))) && (typeof data6 !== "string")){
const err10 = {instancePath:instancePath+"/scheduler_wait_s",schemaPath:"#/properties/scheduler_wait_s/type",keyword:"type",params:{type: schema61.properties.scheduler_wait_s.type},message:"must be integer,string",schema:schema61.properties.scheduler_wait_s.type,parentSchema:schema61.properties.scheduler_wait_s,data:data6};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
const reason2 = checkScalar.call(this, "duration", data6, schema61.properties.scheduler_wait_s, instancePath+"/scheduler_wait_s");
if(reason2 !== undefined){
const err11 = {instancePath:instancePath+"/scheduler_wait_s",schemaPath:"#/properties/scheduler_wait_s/x-value",keyword:"x-value",params:{},message:reason2,schema:"duration",parentSchema:schema61.properties.scheduler_wait_s,data:data6};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
if((typeof data6 == "number") && (isFinite(data6))){
if(data6 < 0 || isNaN(data6)){
const err12 = {instancePath:instancePath+"/scheduler_wait_s",schemaPath:"#/properties/scheduler_wait_s/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema61.properties.scheduler_wait_s,data:data6};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
}
}
else {
const err13 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema61.type,parentSchema:schema61,data};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
validate140.errors = vErrors;
return errors === 0;
}
validate140.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema62 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/scheduler/cache_lookup.json","title":"cache_lookup","description":"Answers from an action cache before anything is queued.","type":"object","properties":{"ac_store":{"description":"The action cache.","type":"string","x-names":"stores"},"scheduler":{"description":"The scheduler that gets the other actions.","$ref":"https://remexec.invalid/schema/scheduler.json"}},"additionalProperties":false,"required":["ac_store","scheduler"]};
const wrapper14 = {validate: validate136};

function validate144(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/scheduler/cache_lookup.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate144.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.ac_store === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "ac_store"},message:"must have required property '"+"ac_store"+"'",schema:schema62.required,parentSchema:schema62,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.scheduler === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "scheduler"},message:"must have required property '"+"scheduler"+"'",schema:schema62.required,parentSchema:schema62,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
for(const key0 in data){
if(!((key0 === "ac_store") || (key0 === "scheduler"))){
const err2 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema62,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.ac_store !== undefined){
let data0 = data.ac_store;
if(typeof data0 !== "string"){
const err3 = {instancePath:instancePath+"/ac_store",schemaPath:"#/properties/ac_store/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema62.properties.ac_store.type,parentSchema:schema62.properties.ac_store,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.scheduler !== undefined){
if(!(wrapper14.validate.call(this, data.scheduler, {instancePath:instancePath+"/scheduler",parentData:data,parentDataProperty:"scheduler",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, wrapper14.validate.errors);
errors = vErrors.length;
}
}
}
else {
const err4 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema62.type,parentSchema:schema62,data};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
validate144.errors = vErrors;
return errors === 0;
}
validate144.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema63 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/scheduler/property_modifier.json","title":"property_modifier","description":"Changes the platform properties of incoming actions.","type":"object","properties":{"modifications":{"description":"The changes, applied in order.","type":"array","items":{"title":"PropertyModification","description":"One change, as an object with exactly one key.","type":"object","properties":{"add":{"title":"PropertyAddition","description":"Sets a property, whether it was there or not.","type":"object","properties":{"name":{"description":"The property.","type":"string"},"value":{"description":"Its value.","type":"string"}},"additionalProperties":false,"required":["name","value"]},"remove":{"description":"The property to remove.","type":"string"},"replace":{"title":"PropertyReplacement","description":"Renames a property, or changes its value.","type":"object","properties":{"name":{"description":"The property.","type":"string"},"value":{"description":"Only if it has this value.","type":"string"},"new_name":{"description":"Its new name.","type":"string"},"new_value":{"description":"Its new value; left out keeps the old one.","type":"string"}},"additionalProperties":false,"required":["name","new_name"]}},"additionalProperties":false,"minProperties":1,"maxProperties":1}},"scheduler":{"description":"The scheduler that gets the changed actions.","$ref":"https://remexec.invalid/schema/scheduler.json"}},"additionalProperties":false,"required":["modifications","scheduler"]};

function validate146(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/scheduler/property_modifier.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate146.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.modifications === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "modifications"},message:"must have required property '"+"modifications"+"'",schema:schema63.required,parentSchema:schema63,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.scheduler === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "scheduler"},message:"must have required property '"+"scheduler"+"'",schema:schema63.required,parentSchema:schema63,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
for(const key0 in data){
if(!((key0 === "modifications") || (key0 === "scheduler"))){
const err2 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema63,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.modifications !== undefined){
let data0 = data.modifications;
if(Array.isArray(data0)){
const len0 = data0.length;
for(let i0=0; i0<len0; i0++){
let data1 = data0[i0];
if(data1 && typeof data1 == "object" && !Array.isArray(data1)){
if(Object.keys(data1).length > 1){
const err3 = {instancePath:instancePath+"/modifications/" + i0,schemaPath:"#/properties/modifications/items/maxProperties",keyword:"maxProperties",params:{limit: 1},message:"must NOT have more than 1 properties",schema:1,parentSchema:schema63.properties.modifications.items,data:data1};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(Object.keys(data1).length < 1){
const err4 = {instancePath:instancePath+"/modifications/" + i0,schemaPath:"#/properties/modifications/items/minProperties",keyword:"minProperties",params:{limit: 1},message:"must NOT have fewer than 1 properties",schema:1,parentSchema:schema63.properties.modifications.items,data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
for(const key1 in data1){
if(!(((key1 === "add") || (key1 === "remove")) || (key1 === "replace"))){
const err5 = {instancePath:instancePath+"/modifications/" + i0,schemaPath:"#/properties/modifications/items/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key1},message:"must NOT have additional properties",schema:false,parentSchema:schema63.properties.modifications.items,data:data1};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data1.add !== undefined){
let data2 = data1.add;
if(data2 && typeof data2 == "object" && !Array.isArray(data2)){
if(data2.name === undefined){
const err6 = {instancePath:instancePath+"/modifications/" + i0+"/add",schemaPath:"#/properties/modifications/items/properties/add/required",keyword:"required",params:{missingProperty: "name"},message:"must have required property '"+"name"+"'",schema:schema63.properties.modifications.items.properties.add.required,parentSchema:schema63.properties.modifications.items.properties.add,data:data2};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if(data2.value === undefined){
const err7 = {instancePath:instancePath+"/modifications/" + i0+"/add",schemaPath:"#/properties/modifications/items/properties/add/required",keyword:"required",params:{missingProperty: "value"},message:"must have required property '"+"value"+"'",schema:schema63.properties.modifications.items.properties.add.required,parentSchema:schema63.properties.modifications.items.properties.add,data:data2};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
for(const key2 in data2){
if(!((key2 === "name") || (key2 === "value"))){
const err8 = {instancePath:instancePath+"/modifications/" + i0+"/add",schemaPath:"#/properties/modifications/items/properties/add/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key2},message:"must NOT have additional properties",schema:false,parentSchema:schema63.properties.modifications.items.properties.add,data:data2};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
if(data2.name !== undefined){
let data3 = data2.name;
if(typeof data3 !== "string"){
const err9 = {instancePath:instancePath+"/modifications/" + i0+"/add/name",schemaPath:"#/properties/modifications/items/properties/add/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema63.properties.modifications.items.properties.add.properties.name.type,parentSchema:schema63.properties.modifications.items.properties.add.properties.name,data:data3};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
if(data2.value !== undefined){
let data4 = data2.value;
if(typeof data4 !== "string"){
const err10 = {instancePath:instancePath+"/modifications/" + i0+"/add/value",schemaPath:"#/properties/modifications/items/properties/add/properties/value/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema63.properties.modifications.items.properties.add.properties.value.type,parentSchema:schema63.properties.modifications.items.properties.add.properties.value,data:data4};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
}
else {
const err11 = {instancePath:instancePath+"/modifications/" + i0+"/add",schemaPath:"#/properties/modifications/items/properties/add/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema63.properties.modifications.items.properties.add.type,parentSchema:schema63.properties.modifications.items.properties.add,data:data2};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
if(data1.remove !== undefined){
let data5 = data1.remove;
if(typeof data5 !== "string"){
const err12 = {instancePath:instancePath+"/modifications/" + i0+"/remove",schemaPath:"#/properties/modifications/items/properties/remove/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema63.properties.modifications.items.properties.remove.type,parentSchema:schema63.properties.modifications.items.properties.remove,data:data5};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
if(data1.replace !== undefined){
let data6 = data1.replace;
if(data6 && typeof data6 == "object" && !Array.isArray(data6)){
if(data6.name === undefined){
const err13 = {instancePath:instancePath+"/modifications/" + i0+"/replace",schemaPath:"#/properties/modifications/items/properties/replace/required",keyword:"required",params:{missingProperty: "name"},message:"must have required property '"+"name"+"'",schema:schema63.properties.modifications.items.properties.replace.required,parentSchema:schema63.properties.modifications.items.properties.replace,data:data6};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
if(data6.new_name === undefined){
const err14 = {instancePath:instancePath+"/modifications/" + i0+"/replace",schemaPath:"#/properties/modifications/items/properties/replace/required",keyword:"required",params:{missingProperty: "new_name"},message:"must have required property '"+"new_name"+"'",schema:schema63.properties.modifications.items.properties.replace.required,parentSchema:schema63.properties.modifications.items.properties.replace,data:data6};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
for(const key3 in data6){
if(!((((key3 === "name") || (key3 === "value")) || (key3 === "new_name")) || (key3 === "new_value"))){
const err15 = {instancePath:instancePath+"/modifications/" + i0+"/replace",schemaPath:"#/properties/modifications/items/properties/replace/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key3},message:"must NOT have additional properties",schema:false,parentSchema:schema63.properties.modifications.items.properties.replace,data:data6};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
if(data6.name !== undefined){
let data7 = data6.name;
if(typeof data7 !== "string"){
const err16 = {instancePath:instancePath+"/modifications/" + i0+"/replace/name",schemaPath:"#/properties/modifications/items/properties/replace/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema63.properties.modifications.items.properties.replace.properties.name.type,parentSchema:schema63.properties.modifications.items.properties.replace.properties.name,data:data7};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
}
if(data6.value !== undefined){
let data8 = data6.value;
if(typeof data8 !== "string"){
const err17 = {instancePath:instancePath+"/modifications/" + i0+"/replace/value",schemaPath:"#/properties/modifications/items/properties/replace/properties/value/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema63.properties.modifications.items.properties.replace.properties.value.type,parentSchema:schema63.properties.modifications.items.properties.replace.properties.value,data:data8};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
}
if(data6.new_name !== undefined){
let data9 = data6.new_name;
if(typeof data9 !== "string"){
const err18 = {instancePath:instancePath+"/modifications/" + i0+"/replace/new_name",schemaPath:"#/properties/modifications/items/properties/replace/properties/new_name/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema63.properties.modifications.items.properties.replace.properties.new_name.type,parentSchema:schema63.properties.modifications.items.properties.replace.properties.new_name,data:data9};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
}
if(data6.new_value !== undefined){
let data10 = data6.new_value;
if(typeof data10 !== "string"){
const err19 = {instancePath:instancePath+"/modifications/" + i0+"/replace/new_value",schemaPath:"#/properties/modifications/items/properties/replace/properties/new_value/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema63.properties.modifications.items.properties.replace.properties.new_value.type,parentSchema:schema63.properties.modifications.items.properties.replace.properties.new_value,data:data10};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
}
}
else {
const err20 = {instancePath:instancePath+"/modifications/" + i0+"/replace",schemaPath:"#/properties/modifications/items/properties/replace/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema63.properties.modifications.items.properties.replace.type,parentSchema:schema63.properties.modifications.items.properties.replace,data:data6};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
}
}
else {
const err21 = {instancePath:instancePath+"/modifications/" + i0,schemaPath:"#/properties/modifications/items/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema63.properties.modifications.items.type,parentSchema:schema63.properties.modifications.items,data:data1};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
}
}
else {
const err22 = {instancePath:instancePath+"/modifications",schemaPath:"#/properties/modifications/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema63.properties.modifications.type,parentSchema:schema63.properties.modifications,data:data0};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
}
if(data.scheduler !== undefined){
if(!(wrapper14.validate.call(this, data.scheduler, {instancePath:instancePath+"/scheduler",parentData:data,parentDataProperty:"scheduler",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, wrapper14.validate.errors);
errors = vErrors.length;
}
}
}
else {
const err23 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema63.type,parentSchema:schema63,data};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
validate146.errors = vErrors;
return errors === 0;
}
validate146.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema64 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/scheduler/historical_resource.json","title":"historical_resource","description":"Raises the resources that an action asks for to its measured need.","type":"object","properties":{"hints_file":{"description":"JSON file with the measured needs of earlier actions.","type":"string","x-path":true},"refresh_interval_s":{"description":"Seconds between reloads; 0 loads once.","type":["integer","string"],"x-value":"duration","default":30},"cpu_property_name":{"description":"Property with the number of CPUs.","type":"string","default":"cpu_count"},"memory_property_name":{"description":"Property with the memory in KiB.","type":"string","default":"memory_kb"},"scheduler":{"description":"The scheduler that gets the changed actions.","$ref":"https://remexec.invalid/schema/scheduler.json"}},"additionalProperties":false,"required":["hints_file","scheduler"]};

function validate148(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/scheduler/historical_resource.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate148.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.hints_file === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "hints_file"},message:"must have required property '"+"hints_file"+"'",schema:schema64.required,parentSchema:schema64,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.scheduler === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "scheduler"},message:"must have required property '"+"scheduler"+"'",schema:schema64.required,parentSchema:schema64,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
for(const key0 in data){
if(!(((((key0 === "hints_file") || (key0 === "refresh_interval_s")) || (key0 === "cpu_property_name")) || (key0 === "memory_property_name")) || (key0 === "scheduler"))){
const err2 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema64,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.hints_file !== undefined){
let data0 = data.hints_file;
if(typeof data0 !== "string"){
const err3 = {instancePath:instancePath+"/hints_file",schemaPath:"#/properties/hints_file/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema64.properties.hints_file.type,parentSchema:schema64.properties.hints_file,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.refresh_interval_s !== undefined){
let data1 = data.refresh_interval_s;
if((!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))) && (typeof data1 !== "string")){
const err4 = {instancePath:instancePath+"/refresh_interval_s",schemaPath:"#/properties/refresh_interval_s/type",keyword:"type",params:{type: schema64.properties.refresh_interval_s.type},message:"must be integer,string",schema:schema64.properties.refresh_interval_s.type,parentSchema:schema64.properties.refresh_interval_s,data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
const reason0 = checkScalar.call(this, "duration", data1, schema64.properties.refresh_interval_s, instancePath+"/refresh_interval_s");
if(reason0 !== undefined){
const err5 = {instancePath:instancePath+"/refresh_interval_s",schemaPath:"#/properties/refresh_interval_s/x-value",keyword:"x-value",params:{},message:reason0,schema:"duration",parentSchema:schema64.properties.refresh_interval_s,data:data1};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data.cpu_property_name !== undefined){
let data2 = data.cpu_property_name;
if(typeof data2 !== "string"){
const err6 = {instancePath:instancePath+"/cpu_property_name",schemaPath:"#/properties/cpu_property_name/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema64.properties.cpu_property_name.type,parentSchema:schema64.properties.cpu_property_name,data:data2};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data.memory_property_name !== undefined){
let data3 = data.memory_property_name;
if(typeof data3 !== "string"){
const err7 = {instancePath:instancePath+"/memory_property_name",schemaPath:"#/properties/memory_property_name/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema64.properties.memory_property_name.type,parentSchema:schema64.properties.memory_property_name,data:data3};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
if(data.scheduler !== undefined){
if(!(wrapper14.validate.call(this, data.scheduler, {instancePath:instancePath+"/scheduler",parentData:data,parentDataProperty:"scheduler",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, wrapper14.validate.errors);
errors = vErrors.length;
}
}
}
else {
const err8 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema64.type,parentSchema:schema64,data};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
validate148.errors = vErrors;
return errors === 0;
}
validate148.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};


function validate136(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/scheduler.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate136.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!((((((key0 === "name") || (key0 === "simple")) || (key0 === "grpc")) || (key0 === "cache_lookup")) || (key0 === "property_modifier")) || (key0 === "historical_resource"))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema59,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.name !== undefined){
let data0 = data.name;
if(typeof data0 !== "string"){
const err1 = {instancePath:instancePath+"/name",schemaPath:"#/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema59.properties.name.type,parentSchema:schema59.properties.name,data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.simple !== undefined){
if(!(validate137.call(this, data.simple, {instancePath:instancePath+"/simple",parentData:data,parentDataProperty:"simple",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate137.errors);
errors = vErrors.length;
}
}
if(data.grpc !== undefined){
if(!(validate140.call(this, data.grpc, {instancePath:instancePath+"/grpc",parentData:data,parentDataProperty:"grpc",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate140.errors);
errors = vErrors.length;
}
}
if(data.cache_lookup !== undefined){
if(!(validate144.call(this, data.cache_lookup, {instancePath:instancePath+"/cache_lookup",parentData:data,parentDataProperty:"cache_lookup",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate144.errors);
errors = vErrors.length;
}
}
if(data.property_modifier !== undefined){
if(!(validate146.call(this, data.property_modifier, {instancePath:instancePath+"/property_modifier",parentData:data,parentDataProperty:"property_modifier",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate146.errors);
errors = vErrors.length;
}
}
if(data.historical_resource !== undefined){
if(!(validate148.call(this, data.historical_resource, {instancePath:instancePath+"/historical_resource",parentData:data,parentDataProperty:"historical_resource",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate148.errors);
errors = vErrors.length;
}
}
const reason0 = checkKind.call(this, "scheduler", data, schema59, instancePath);
if(reason0 !== undefined){
const err2 = {instancePath,schemaPath:"#/x-kinds",keyword:"x-kinds",params:{},message:reason0,schema:"scheduler",parentSchema:schema59,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
else {
const err3 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema59.type,parentSchema:schema59,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate136.errors = vErrors;
return errors === 0;
}
validate136.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema65 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/worker.json","title":"Worker","description":"A worker: exactly one kind and its settings.","x-kinds":"worker","type":"object","additionalProperties":false,"properties":{"name":{"description":"Name of the worker, as `name` inside its kind.","type":"string"},"local":{"$ref":"https://remexec.invalid/schema/worker/local.json"},"worker":{"$ref":"https://remexec.invalid/schema/worker/worker.json"}}};
const schema66 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/worker/local.json","title":"local","description":"A worker on this machine. If a server of this file serves its worker API, the worker runs in its own process: the server starts it, restarts it after a crash, and stops it when the server ends. It talks to the scheduler over the network like any other worker, but reads the files of its store directly, without the server.","type":"object","properties":{"name":{"description":"Prefix of the worker id in logs and metrics. Left out: `worker_` and its index in the list.","type":"string","x-filled":true},"worker_api_endpoint":{"title":"WorkerApiEndpoint","description":"The worker API of the scheduler.","type":"object","properties":{"uri":{"description":"`grpc://host:port`, or `grpcs://host:port` with `tls_config`. If no server of this configuration listens on a local address given here, the process opens that listener itself; in a file without schedulers it connects to another process there.","type":"string","x-also-called":["address","url","endpoint"]},"timeout":{"description":"Seconds; the worker reports that it is alive twice in this time.","type":["number","string"],"x-value":"number","default":5,"exclusiveMinimum":0},"tls_config":{"description":"TLS towards the scheduler: needed with `grpcs`, rejected without. Its files are read again for each connection.","$ref":"https://remexec.invalid/schema/shared/client_tls.json"},"headers":{"description":"Metadata sent with the connection, such as an `authorization` that identifies this worker.","type":"object","additionalProperties":{"type":"string"},"default":{}}},"additionalProperties":false,"required":["uri"]},"max_action_timeout_s":{"description":"Longest timeout in seconds that an action may ask for, and the default for actions that ask for none. The default is a day, because clients ask for much: reclient for 1 hour by default, Siso for 2, Bazel for 1 with `timeout = \"eternal\"`.","type":["integer","string"],"x-value":"duration","default":86400,"x-zero-is-default":true,"x-nativelink-default":"1200"},"max_action_timeout":{"description":"Older spelling of `max_action_timeout_s`.","deprecated":true,"x-alias-of":"max_action_timeout_s","$ref":"https://remexec.invalid/schema/worker/local.json#/properties/max_action_timeout_s"},"max_upload_timeout_s":{"description":"Seconds the upload of the outputs may take; longer counts as a failed attempt.","type":["integer","string"],"x-value":"duration","default":600,"x-zero-is-default":true},"max_upload_timeout":{"description":"Older spelling of `max_upload_timeout_s`.","deprecated":true,"x-alias-of":"max_upload_timeout_s","$ref":"https://remexec.invalid/schema/worker/local.json#/properties/max_upload_timeout_s"},"max_cleanup_wait_s":{"description":"Seconds to wait until an older directory of the same operation is removed.","type":["integer","string"],"x-ignored":"every run has a directory of its own","x-value":"duration"},"max_cleanup_backoff_ms":{"description":"Longest pause, in milliseconds, between two checks during that wait. An integer is milliseconds; text may use any unit.","type":["integer","string"],"x-ignored":"every run has a directory of its own","x-value":"duration_ms"},"max_inflight_tasks":{"description":"Most actions the worker runs at one time; `cores` means one for each core of this machine, 0 no limit.","type":["integer","string"],"x-value":"parallelism","minimum":0,"default":"cores"},"timeout_handled_externally":{"description":"Leave the timeout of an action to its command or wrapper; the worker stops it at `max_action_timeout_s` only.","type":["boolean","string"],"x-value":"bool","default":false},"termination_grace_s":{"description":"Seconds from SIGTERM to SIGKILL for the processes of an action that is ended: at its timeout, when nobody waits for it any more, or when the worker stops. It ends sooner when all of them have ended, and its slot is held until then. At a stop the grace is part of `drain_s`, and a quarter of it at most. 0: SIGKILL at once. An action that exceeds one of `action_limits` is always killed at once.","type":["integer","string"],"x-value":"duration","minimum":0,"default":15},"timeout_message":{"description":"Message of an action that timed out. Siso treats exactly the default as final; Buck2 looks for `Execution timed out`.","type":"string","default":"execution timeout exceeded"},"entrypoint":{"description":"Command put before the command line of every action; split into words, no shell.","type":"string","default":""},"experimental_precondition_script":{"description":"Command run before every action, split into words without a shell. If it fails, the action goes back to the queue and the worker pauses.","type":"string"},"cas_fast_slow_store":{"description":"The store of inputs and outputs: a `fast_slow` whose fast side is a `filesystem`, or a `dedup` whose `content_store` and `whole_store` are, because inputs are linked from there.","type":"string","x-names":"stores"},"upload_action_result":{"description":"Which results the worker writes to the action cache.","$ref":"https://remexec.invalid/schema/shared/upload_action_result.json","default":{}},"work_directory":{"description":"Directory in which actions run, in one folder `remexec-...` per start of the worker. The worker removes the folders of earlier starts while it runs, and touches nothing else. Must be on the same file system as the fast store and belong to this worker alone.","type":"string","x-path":true},"platform_properties":{"description":"The platform properties of the worker, by name.","type":"object","additionalProperties":{"$ref":"https://remexec.invalid/schema/worker/local.json#/$defs/platform_property"},"default":{}},"additional_environment":{"description":"Variables every command gets in addition to its own, and where each value comes from: `from_environment`, `timeout_millis`, `side_channel_file`, `action_directory`, `{property: NAME}` or `{value: TEXT}`.","type":"object","additionalProperties":{"$ref":"https://remexec.invalid/schema/worker/local.json#/$defs/environment_value"},"default":{}},"default_path":{"description":"`PATH` of commands that set none and get none from `additional_environment`, also if they set other variables. Empty: none.","type":"string","default":"/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},"action_limits":{"title":"ActionLimits","description":"Limits on an action. An action that exceeds one is killed with all its processes, and its operation ends with RESOURCE_EXHAUSTED and the limit. Checked several times a second, so a fast action can exceed a limit briefly.","type":"object","properties":{"printed_bytes":{"description":"Most bytes of stdout, and as many of stderr; 0 means no limit.","type":["integer","string"],"x-value":"size","default":"256MiB"},"disk_bytes":{"description":"Most disk bytes of files that the action creates in its input root, and with `use_mount_namespace` in each of `/tmp`, `/var/tmp` and `/dev/shm`, which are in memory; 0 means no limit. The lengths of its outputs are limited too, because the store writes a sparse output in full.","type":["integer","string"],"x-value":"size","default":0},"processes":{"description":"Most processes at a time, and with `control_groups` their threads too; 0 means no limit.","type":["integer","string"],"x-value":"count","minimum":0,"default":4096},"memory_bytes":{"description":"Most resident bytes of its processes together; 0 means no limit. Shared memory counts for each process. With `control_groups` it counts once, with files in memory (`/tmp`, `/dev/shm`, memfd).","type":["integer","string"],"x-value":"size","default":0}},"additionalProperties":false,"default":{}},"directory_cache":{"title":"DirectoryCache","description":"Keep whole input roots between actions. An action whose root is kept gets it at once, whatever its size. Otherwise the kept root that has the most in common with it is changed, so the action waits only for the files that differ. After each action the worker removes added files and compares every file by inode, size, times and modes. A root that changed is not kept, nor one whose command may have left a process behind. Excludes `experimental_precondition_script` and variables for a side channel or the action directory. Needs Linux, and koffi or `use_namespaces`.","type":"object","properties":{"max_entries":{"description":"Most input roots kept; the most recently used stay.","type":["integer","string"],"x-value":"count","minimum":0,"default":1000},"max_size_bytes":{"description":"Most bytes in the files of the kept roots, which are links to the store if possible; 0 means no limit.","type":["integer","string"],"x-value":"size","default":"10GiB"},"max_age_s":{"description":"Seconds after which a root that no action used is removed.","type":["integer","string"],"x-value":"duration","default":86400,"x-zero-is-default":true},"cache_root":{"description":"Where they are kept.","type":"string","x-path":true,"x-ignored":"they stay where they are, in the work directory"},"experimental_subtree_caching":{"description":"Keep subdirectories too.","type":["boolean","string"],"x-value":"bool","x-ignored":"roots that have subtrees in common are changed into each other, which is always done"},"max_concurrent_fetches":{"description":"Fetches at one time.","type":["integer","string"],"x-value":"count","minimum":1,"x-ignored":"small inputs are fetched 256 at a time, others 16"},"experimental_get_tree_prefetch":{"description":"Fetch the tree in one call.","type":["boolean","string"],"x-value":"bool","x-ignored":"trees of a far server are fetched by GetTree, which is always done"}},"additionalProperties":false},"experimental_active_input_leases":{"description":"Keep all inputs of a running action from being evicted, which is always done.","type":["boolean","string"],"x-value":"bool","default":false,"x-ignored":true,"x-always-so":true},"control_groups":{"title":"ControlGroups","description":"Give each action a control group (version 2) of Linux: the kernel then holds `processes` and `memory_bytes` of `action_limits` and the memory that an action asks for, shares the processors by what actions ask for, and ends all that an action started at once. An action that is ended for its memory is told its limit and its peak. Without groups the worker follows processes in /proc. A command that is not confined by `use_mount_namespace` could leave its group.","type":"object","properties":{"use":{"description":"`if_delegated`: where this process has a group to itself, such as by `Delegate=yes` of a systemd unit, as in those that come with remexec. `always`: the worker does not start without. `never`: processes are followed.","type":"string","enum":["if_delegated","always","never"],"default":"if_delegated"},"directory":{"description":"The group in which those of actions are made, below /sys/fs/cgroup. It has to exist, to have the controllers `memory` and `pids`, and to belong to this user. Left out: the group of the process.","type":"string","x-path":true},"memory_property":{"description":"Property by which actions ask for memory in KiB. Their processes together get no more than they ask for. Empty: no limit but `memory_bytes` of `action_limits`.","type":"string","default":"memory_kb"},"cpu_property":{"description":"Property by which actions ask for processors. Those that ask for more get as much more time while processors are contended; without contention there is no limit. Empty: all have the same share.","type":"string","default":"cpu_count"}},"additionalProperties":false,"default":{}},"container_images":{"title":"ContainerImages","description":"Run actions in the image that they name by the property `container-image` or `docker-image`: `docker://HOST/NAME@sha256:…`, or with a tag. Images are fetched by `skopeo` and unpacked by `umoci`, which must be in PATH, and kept. The command sees the image read-only, its directory at `/remexec`, and private `/tmp`, `/var/tmp`, `/dev` and `/proc`; variables of the image are below its own. Actions that name no image run on the worker's own system. Needs `use_mount_namespace`; excludes `entrypoint` and `input_root_is_root`. `{}` switches it on.","type":"object","properties":{"directory":{"description":"Where unpacked images are kept; belongs to this worker alone. Left out: `images` in the work directory.","type":"string","x-path":true},"max_bytes":{"description":"Most disk bytes of the images that are kept. The least recently used are removed first, never one in use. An image that is being unpacked comes on top.","type":["integer","string"],"x-value":"size","default":"50GiB"},"max_age_s":{"description":"Seconds after which an image that no action used is removed.","type":["integer","string"],"x-value":"duration","default":604800,"x-zero-is-default":true},"max_image_bytes":{"description":"Most bytes of one image, both compressed and unpacked. Actions that name a larger one are refused.","type":["integer","string"],"x-value":"size","default":"20GiB"},"max_image_files":{"description":"Most files and directories of one image.","type":["integer","string"],"x-value":"count","minimum":1,"default":1000000},"pull_timeout_s":{"description":"Seconds that fetching an image may take, and as many for unpacking it.","type":["integer","string"],"x-value":"duration","default":1800,"x-zero-is-default":true},"tag_age_s":{"description":"Seconds for which a tag stands for the digest that it had when it was looked up.","type":["integer","string"],"x-value":"duration","default":300,"x-zero-is-default":true},"registries":{"description":"Registries to fetch from: `ghcr.io`, `ghcr.io/acme` for what is below that path, `http://10.0.0.5:5000` for one without TLS. Names without a host are of `docker.io`. Empty: every registry with a public address.","type":"array","items":{"type":"string"},"default":[]},"allow_addresses":{"description":"Addresses and networks besides public ones, for registries that are not listed: `10.0.0.0/8`. Without it, a client could use the worker to reach services that trust it.","type":"array","items":{"type":"string"},"default":[]},"prefetch":{"description":"Images that are fetched when the worker starts and looked after every ten minutes, before an action names them. They have no right to stay: `max_bytes` and `max_age_s` hold for them too.","type":"array","items":{"type":"string"},"default":[]},"auth_file":{"description":"Credentials of registries, in the form that `skopeo login --authfile` writes. Everybody whose actions run here can use the images that they open. Left out: registries are asked without an account.","type":"string","x-path":true}},"additionalProperties":false},"persistent_workers":{"title":"PersistentWorkers","description":"Tools that stay up between actions, as Bazel's persistent workers: an action that asks for one by the property `persistentWorkerKey` (`--experimental_remote_mark_tool_inputs`) becomes a request to a process that is already warm. A process serves one instance, scope, tool, environment and startup line. If it fails, its command runs as it stands. Actions without the property are not concerned. Needs Linux and koffi; has no effect beside `input_root_is_root`, `experimental_precondition_script` and variables for a side channel or the action directory.","type":"object","properties":{"enabled":{"description":"`false`: every command has a process of its own.","type":["boolean","string"],"x-value":"bool","default":true},"max_processes":{"description":"Most processes, with those that have a request. Beyond it the least recently used one ends, or the command runs as it stands. 0: twice `max_inflight_tasks`, and at least 8.","type":["integer","string"],"x-value":"count","minimum":0,"default":0},"max_idle_s":{"description":"Seconds after which a process without a request ends.","type":["integer","string"],"x-value":"duration","default":600,"x-zero-is-default":true},"max_requests":{"description":"Requests after which a process ends, because tools leak memory; 0 means no limit.","type":["integer","string"],"x-value":"count","minimum":0,"default":500},"max_memory_bytes":{"description":"Most resident bytes of all of them together. Beyond it the largest one without a request ends first. 0: a quarter of the memory of the machine, or of its container.","type":["integer","string"],"x-value":"size","default":0}},"additionalProperties":false,"default":{}},"use_namespaces":{"description":"Run each action by bubblewrap (`bwrap`) in its own Linux user, process, IPC, host name and network namespaces, without root rights. It sees no process of the machine and has no network, and all its processes end with it. The worker does not start if this is impossible.","type":["boolean","string"],"x-value":"bool","default":false},"keep_network":{"description":"Give actions the network of the machine; without `use_namespaces` they have it anyway.","type":["boolean","string"],"x-value":"bool","default":false},"use_mount_namespace":{"description":"Give each action its own mount namespace; needs `use_namespaces`. The machine is read-only except the directory of the action; `/tmp` and `/var/tmp` are private and empty. The action sees no other action, no path that this configuration names (its own file, folders of stores, keys, lists of tokens), and no Unix socket of the machine: docs/security.md has the exact list.","type":["boolean","string"],"x-value":"bool","default":false},"read_only_inputs":{"description":"With `use_mount_namespace` an action cannot change, replace or remove its inputs, because they are mounted read-only. It can create files in the working directory, beside its outputs, and in the directories above those. It can write copies: an output that is also an input, and files beside outputs above 128 mounts. It can replace a symlink beside outputs, which no other action sees. `false`: all inputs are copies (clones if the file system has them) that no other action gets.","type":["boolean","string"],"x-value":"bool","default":true},"input_root_is_root":{"description":"For clients that send a whole system with each action, such as BuildStream: the input root is `/`, with `/dev`, `/proc` and a private `/tmp`, and without any path of the machine. Needs `use_mount_namespace`.","type":["boolean","string"],"x-value":"bool","default":false}},"additionalProperties":false,"required":["worker_api_endpoint","cas_fast_slow_store","work_directory"],"$defs":{"platform_property":{"title":"WorkerProperty","description":"The source of a property's values, as an object with exactly one key.","type":"object","properties":{"values":{"description":"The values themselves.","type":"array","items":{"type":"string"}},"query_cmd":{"description":"A command, split into words without a shell; each line it prints is a value. Runs whenever the worker connects.","type":"string"}},"additionalProperties":false,"minProperties":1,"maxProperties":1},"environment_value":{"description":"The source of a value: one of the words, or an object with exactly one key.","type":["string","object"],"x-words":["from_environment","timeout_millis","side_channel_file","action_directory"],"properties":{"property":{"description":"The platform property of the action with this name.","type":"string"},"value":{"description":"This text.","type":"string"}},"additionalProperties":false,"minProperties":1,"maxProperties":1}}};
const schema67 = {"description":"Longest timeout in seconds that an action may ask for, and the default for actions that ask for none. The default is a day, because clients ask for much: reclient for 1 hour by default, Siso for 2, Bazel for 1 with `timeout = \"eternal\"`.","type":["integer","string"],"x-value":"duration","default":86400,"x-zero-is-default":true,"x-nativelink-default":"1200"};

function validate155(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate155.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if((!(((typeof data == "number") && (!(data % 1) && !isNaN(data))) && (isFinite(data)))) && (typeof data !== "string")){
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: schema67.type},message:"must be integer,string",schema:schema67.type,parentSchema:schema67,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
const reason0 = checkScalar.call(this, "duration", data, schema67, instancePath);
if(reason0 !== undefined){
const err1 = {instancePath,schemaPath:"#/x-value",keyword:"x-value",params:{},message:reason0,schema:"duration",parentSchema:schema67,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate155.errors = vErrors;
return errors === 0;
}
validate155.evaluated = {"dynamicProps":false,"dynamicItems":false};

const schema68 = {"description":"Seconds the upload of the outputs may take; longer counts as a failed attempt.","type":["integer","string"],"x-value":"duration","default":600,"x-zero-is-default":true};

function validate157(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate157.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if((!(((typeof data == "number") && (!(data % 1) && !isNaN(data))) && (isFinite(data)))) && (typeof data !== "string")){
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: schema68.type},message:"must be integer,string",schema:schema68.type,parentSchema:schema68,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
const reason0 = checkScalar.call(this, "duration", data, schema68, instancePath);
if(reason0 !== undefined){
const err1 = {instancePath,schemaPath:"#/x-value",keyword:"x-value",params:{},message:reason0,schema:"duration",parentSchema:schema68,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate157.errors = vErrors;
return errors === 0;
}
validate157.evaluated = {"dynamicProps":false,"dynamicItems":false};

const schema69 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/shared/upload_action_result.json","title":"UploadActionResult","description":"Which results a worker stores, and where.","type":"object","properties":{"ac_store":{"description":"The action cache. Left out: the execution service stores cacheable results with exit code 0.","type":"string","x-names":"stores"},"upload_ac_results_strategy":{"description":"Which results go to the action cache; `success_only` are those with exit code 0 and no error.","type":"string","enum":["success_only","never","everything","failures_only"],"default":"success_only"},"historical_results_store":{"description":"The CAS in which complete responses are kept. Left out: the store of the worker.","type":"string","x-names":"stores"},"upload_historical_results_strategy":{"description":"Actions whose complete response is kept, as a blob `remexec.worker.v1.HistoricalExecuteResponse` with the digest of the action. `failures_only` means an exit code other than 0, or an error.","type":"string","enum":["success_only","never","everything","failures_only"],"default":"failures_only"},"success_message_template":{"description":"Message of a response with exit code 0. Placeholders: `{digest_function}`, `{action_digest_hash}`, `{action_digest_size}`, `{historical_results_hash}` and `{historical_results_size}`. The last two name the response that was kept; they are empty if none was.","type":"string","default":""},"failure_message_template":{"description":"Message of any other response, with the same placeholders.","type":"string","default":""}},"additionalProperties":false};

function validate159(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/shared/upload_action_result.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate159.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!((((((key0 === "ac_store") || (key0 === "upload_ac_results_strategy")) || (key0 === "historical_results_store")) || (key0 === "upload_historical_results_strategy")) || (key0 === "success_message_template")) || (key0 === "failure_message_template"))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema69,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.ac_store !== undefined){
let data0 = data.ac_store;
if(typeof data0 !== "string"){
const err1 = {instancePath:instancePath+"/ac_store",schemaPath:"#/properties/ac_store/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema69.properties.ac_store.type,parentSchema:schema69.properties.ac_store,data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.upload_ac_results_strategy !== undefined){
let data1 = data.upload_ac_results_strategy;
if(typeof data1 !== "string"){
const err2 = {instancePath:instancePath+"/upload_ac_results_strategy",schemaPath:"#/properties/upload_ac_results_strategy/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema69.properties.upload_ac_results_strategy.type,parentSchema:schema69.properties.upload_ac_results_strategy,data:data1};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(!((((data1 === "success_only") || (data1 === "never")) || (data1 === "everything")) || (data1 === "failures_only"))){
const err3 = {instancePath:instancePath+"/upload_ac_results_strategy",schemaPath:"#/properties/upload_ac_results_strategy/enum",keyword:"enum",params:{allowedValues: schema69.properties.upload_ac_results_strategy.enum},message:"must be equal to one of the allowed values",schema:schema69.properties.upload_ac_results_strategy.enum,parentSchema:schema69.properties.upload_ac_results_strategy,data:data1};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.historical_results_store !== undefined){
let data2 = data.historical_results_store;
if(typeof data2 !== "string"){
const err4 = {instancePath:instancePath+"/historical_results_store",schemaPath:"#/properties/historical_results_store/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema69.properties.historical_results_store.type,parentSchema:schema69.properties.historical_results_store,data:data2};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.upload_historical_results_strategy !== undefined){
let data3 = data.upload_historical_results_strategy;
if(typeof data3 !== "string"){
const err5 = {instancePath:instancePath+"/upload_historical_results_strategy",schemaPath:"#/properties/upload_historical_results_strategy/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema69.properties.upload_historical_results_strategy.type,parentSchema:schema69.properties.upload_historical_results_strategy,data:data3};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if(!((((data3 === "success_only") || (data3 === "never")) || (data3 === "everything")) || (data3 === "failures_only"))){
const err6 = {instancePath:instancePath+"/upload_historical_results_strategy",schemaPath:"#/properties/upload_historical_results_strategy/enum",keyword:"enum",params:{allowedValues: schema69.properties.upload_historical_results_strategy.enum},message:"must be equal to one of the allowed values",schema:schema69.properties.upload_historical_results_strategy.enum,parentSchema:schema69.properties.upload_historical_results_strategy,data:data3};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data.success_message_template !== undefined){
let data4 = data.success_message_template;
if(typeof data4 !== "string"){
const err7 = {instancePath:instancePath+"/success_message_template",schemaPath:"#/properties/success_message_template/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema69.properties.success_message_template.type,parentSchema:schema69.properties.success_message_template,data:data4};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
if(data.failure_message_template !== undefined){
let data5 = data.failure_message_template;
if(typeof data5 !== "string"){
const err8 = {instancePath:instancePath+"/failure_message_template",schemaPath:"#/properties/failure_message_template/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema69.properties.failure_message_template.type,parentSchema:schema69.properties.failure_message_template,data:data5};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
}
else {
const err9 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema69.type,parentSchema:schema69,data};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
validate159.errors = vErrors;
return errors === 0;
}
validate159.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema70 = {"title":"WorkerProperty","description":"The source of a property's values, as an object with exactly one key.","type":"object","properties":{"values":{"description":"The values themselves.","type":"array","items":{"type":"string"}},"query_cmd":{"description":"A command, split into words without a shell; each line it prints is a value. Runs whenever the worker connects.","type":"string"}},"additionalProperties":false,"minProperties":1,"maxProperties":1};

function validate161(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate161.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(Object.keys(data).length > 1){
const err0 = {instancePath,schemaPath:"#/maxProperties",keyword:"maxProperties",params:{limit: 1},message:"must NOT have more than 1 properties",schema:1,parentSchema:schema70,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(Object.keys(data).length < 1){
const err1 = {instancePath,schemaPath:"#/minProperties",keyword:"minProperties",params:{limit: 1},message:"must NOT have fewer than 1 properties",schema:1,parentSchema:schema70,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
for(const key0 in data){
if(!((key0 === "values") || (key0 === "query_cmd"))){
const err2 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema70,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.values !== undefined){
let data0 = data.values;
if(Array.isArray(data0)){
const len0 = data0.length;
for(let i0=0; i0<len0; i0++){
let data1 = data0[i0];
if(typeof data1 !== "string"){
const err3 = {instancePath:instancePath+"/values/" + i0,schemaPath:"#/properties/values/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema70.properties.values.items.type,parentSchema:schema70.properties.values.items,data:data1};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
}
else {
const err4 = {instancePath:instancePath+"/values",schemaPath:"#/properties/values/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema70.properties.values.type,parentSchema:schema70.properties.values,data:data0};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.query_cmd !== undefined){
let data2 = data.query_cmd;
if(typeof data2 !== "string"){
const err5 = {instancePath:instancePath+"/query_cmd",schemaPath:"#/properties/query_cmd/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema70.properties.query_cmd.type,parentSchema:schema70.properties.query_cmd,data:data2};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
}
else {
const err6 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema70.type,parentSchema:schema70,data};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
validate161.errors = vErrors;
return errors === 0;
}
validate161.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema71 = {"description":"The source of a value: one of the words, or an object with exactly one key.","type":["string","object"],"x-words":["from_environment","timeout_millis","side_channel_file","action_directory"],"properties":{"property":{"description":"The platform property of the action with this name.","type":"string"},"value":{"description":"This text.","type":"string"}},"additionalProperties":false,"minProperties":1,"maxProperties":1};

function validate163(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate163.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if((typeof data !== "string") && (!(data && typeof data == "object" && !Array.isArray(data)))){
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: schema71.type},message:"must be string,object",schema:schema71.type,parentSchema:schema71,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
const reason0 = checkWord.call(this, schema71["x-words"], data, schema71, instancePath);
if(reason0 !== undefined){
const err1 = {instancePath,schemaPath:"#/x-words",keyword:"x-words",params:{},message:reason0,schema:schema71["x-words"],parentSchema:schema71,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(Object.keys(data).length > 1){
const err2 = {instancePath,schemaPath:"#/maxProperties",keyword:"maxProperties",params:{limit: 1},message:"must NOT have more than 1 properties",schema:1,parentSchema:schema71,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(Object.keys(data).length < 1){
const err3 = {instancePath,schemaPath:"#/minProperties",keyword:"minProperties",params:{limit: 1},message:"must NOT have fewer than 1 properties",schema:1,parentSchema:schema71,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
for(const key0 in data){
if(!((key0 === "property") || (key0 === "value"))){
const err4 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema71,data};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.property !== undefined){
let data0 = data.property;
if(typeof data0 !== "string"){
const err5 = {instancePath:instancePath+"/property",schemaPath:"#/properties/property/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema71.properties.property.type,parentSchema:schema71.properties.property,data:data0};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data.value !== undefined){
let data1 = data.value;
if(typeof data1 !== "string"){
const err6 = {instancePath:instancePath+"/value",schemaPath:"#/properties/value/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema71.properties.value.type,parentSchema:schema71.properties.value,data:data1};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
}
validate163.errors = vErrors;
return errors === 0;
}
validate163.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};


function validate153(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/worker/local.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate153.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.worker_api_endpoint === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "worker_api_endpoint"},message:"must have required property '"+"worker_api_endpoint"+"'",schema:schema66.required,parentSchema:schema66,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.cas_fast_slow_store === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "cas_fast_slow_store"},message:"must have required property '"+"cas_fast_slow_store"+"'",schema:schema66.required,parentSchema:schema66,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.work_directory === undefined){
const err2 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "work_directory"},message:"must have required property '"+"work_directory"+"'",schema:schema66.required,parentSchema:schema66,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
for(const key0 in data){
if(!(func1.call(schema66.properties, key0))){
const err3 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema66,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.name !== undefined){
let data0 = data.name;
if(typeof data0 !== "string"){
const err4 = {instancePath:instancePath+"/name",schemaPath:"#/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema66.properties.name.type,parentSchema:schema66.properties.name,data:data0};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.worker_api_endpoint !== undefined){
let data1 = data.worker_api_endpoint;
if(data1 && typeof data1 == "object" && !Array.isArray(data1)){
if(data1.uri === undefined){
const err5 = {instancePath:instancePath+"/worker_api_endpoint",schemaPath:"#/properties/worker_api_endpoint/required",keyword:"required",params:{missingProperty: "uri"},message:"must have required property '"+"uri"+"'",schema:schema66.properties.worker_api_endpoint.required,parentSchema:schema66.properties.worker_api_endpoint,data:data1};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
for(const key1 in data1){
if(!((((key1 === "uri") || (key1 === "timeout")) || (key1 === "tls_config")) || (key1 === "headers"))){
const err6 = {instancePath:instancePath+"/worker_api_endpoint",schemaPath:"#/properties/worker_api_endpoint/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key1},message:"must NOT have additional properties",schema:false,parentSchema:schema66.properties.worker_api_endpoint,data:data1};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data1.uri !== undefined){
let data2 = data1.uri;
if(typeof data2 !== "string"){
const err7 = {instancePath:instancePath+"/worker_api_endpoint/uri",schemaPath:"#/properties/worker_api_endpoint/properties/uri/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema66.properties.worker_api_endpoint.properties.uri.type,parentSchema:schema66.properties.worker_api_endpoint.properties.uri,data:data2};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
if(data1.timeout !== undefined){
let data3 = data1.timeout;
if((!((typeof data3 == "number") && (isFinite(data3)))) && (typeof data3 !== "string")){
const err8 = {instancePath:instancePath+"/worker_api_endpoint/timeout",schemaPath:"#/properties/worker_api_endpoint/properties/timeout/type",keyword:"type",params:{type: schema66.properties.worker_api_endpoint.properties.timeout.type},message:"must be number,string",schema:schema66.properties.worker_api_endpoint.properties.timeout.type,parentSchema:schema66.properties.worker_api_endpoint.properties.timeout,data:data3};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
const reason0 = checkScalar.call(this, "number", data3, schema66.properties.worker_api_endpoint.properties.timeout, instancePath+"/worker_api_endpoint/timeout");
if(reason0 !== undefined){
const err9 = {instancePath:instancePath+"/worker_api_endpoint/timeout",schemaPath:"#/properties/worker_api_endpoint/properties/timeout/x-value",keyword:"x-value",params:{},message:reason0,schema:"number",parentSchema:schema66.properties.worker_api_endpoint.properties.timeout,data:data3};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
if((typeof data3 == "number") && (isFinite(data3))){
if(data3 <= 0 || isNaN(data3)){
const err10 = {instancePath:instancePath+"/worker_api_endpoint/timeout",schemaPath:"#/properties/worker_api_endpoint/properties/timeout/exclusiveMinimum",keyword:"exclusiveMinimum",params:{comparison: ">", limit: 0},message:"must be > 0",schema:0,parentSchema:schema66.properties.worker_api_endpoint.properties.timeout,data:data3};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
}
if(data1.tls_config !== undefined){
if(!(validate91.call(this, data1.tls_config, {instancePath:instancePath+"/worker_api_endpoint/tls_config",parentData:data1,parentDataProperty:"tls_config",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate91.errors);
errors = vErrors.length;
}
}
if(data1.headers !== undefined){
let data5 = data1.headers;
if(data5 && typeof data5 == "object" && !Array.isArray(data5)){
for(const key2 in data5){
let data6 = data5[key2];
if(typeof data6 !== "string"){
const err11 = {instancePath:instancePath+"/worker_api_endpoint/headers/" + key2.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/worker_api_endpoint/properties/headers/additionalProperties/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema66.properties.worker_api_endpoint.properties.headers.additionalProperties.type,parentSchema:schema66.properties.worker_api_endpoint.properties.headers.additionalProperties,data:data6};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
}
else {
const err12 = {instancePath:instancePath+"/worker_api_endpoint/headers",schemaPath:"#/properties/worker_api_endpoint/properties/headers/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema66.properties.worker_api_endpoint.properties.headers.type,parentSchema:schema66.properties.worker_api_endpoint.properties.headers,data:data5};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
}
else {
const err13 = {instancePath:instancePath+"/worker_api_endpoint",schemaPath:"#/properties/worker_api_endpoint/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema66.properties.worker_api_endpoint.type,parentSchema:schema66.properties.worker_api_endpoint,data:data1};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
}
if(data.max_action_timeout_s !== undefined){
let data7 = data.max_action_timeout_s;
if((!(((typeof data7 == "number") && (!(data7 % 1) && !isNaN(data7))) && (isFinite(data7)))) && (typeof data7 !== "string")){
const err14 = {instancePath:instancePath+"/max_action_timeout_s",schemaPath:"#/properties/max_action_timeout_s/type",keyword:"type",params:{type: schema66.properties.max_action_timeout_s.type},message:"must be integer,string",schema:schema66.properties.max_action_timeout_s.type,parentSchema:schema66.properties.max_action_timeout_s,data:data7};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
const reason1 = checkScalar.call(this, "duration", data7, schema66.properties.max_action_timeout_s, instancePath+"/max_action_timeout_s");
if(reason1 !== undefined){
const err15 = {instancePath:instancePath+"/max_action_timeout_s",schemaPath:"#/properties/max_action_timeout_s/x-value",keyword:"x-value",params:{},message:reason1,schema:"duration",parentSchema:schema66.properties.max_action_timeout_s,data:data7};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
if(data.max_action_timeout !== undefined){
if(!(validate155.call(this, data.max_action_timeout, {instancePath:instancePath+"/max_action_timeout",parentData:data,parentDataProperty:"max_action_timeout",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate155.errors);
errors = vErrors.length;
}
}
if(data.max_upload_timeout_s !== undefined){
let data9 = data.max_upload_timeout_s;
if((!(((typeof data9 == "number") && (!(data9 % 1) && !isNaN(data9))) && (isFinite(data9)))) && (typeof data9 !== "string")){
const err16 = {instancePath:instancePath+"/max_upload_timeout_s",schemaPath:"#/properties/max_upload_timeout_s/type",keyword:"type",params:{type: schema66.properties.max_upload_timeout_s.type},message:"must be integer,string",schema:schema66.properties.max_upload_timeout_s.type,parentSchema:schema66.properties.max_upload_timeout_s,data:data9};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
const reason2 = checkScalar.call(this, "duration", data9, schema66.properties.max_upload_timeout_s, instancePath+"/max_upload_timeout_s");
if(reason2 !== undefined){
const err17 = {instancePath:instancePath+"/max_upload_timeout_s",schemaPath:"#/properties/max_upload_timeout_s/x-value",keyword:"x-value",params:{},message:reason2,schema:"duration",parentSchema:schema66.properties.max_upload_timeout_s,data:data9};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
}
if(data.max_upload_timeout !== undefined){
if(!(validate157.call(this, data.max_upload_timeout, {instancePath:instancePath+"/max_upload_timeout",parentData:data,parentDataProperty:"max_upload_timeout",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate157.errors);
errors = vErrors.length;
}
}
if(data.max_cleanup_wait_s !== undefined){
let data11 = data.max_cleanup_wait_s;
if((!(((typeof data11 == "number") && (!(data11 % 1) && !isNaN(data11))) && (isFinite(data11)))) && (typeof data11 !== "string")){
const err18 = {instancePath:instancePath+"/max_cleanup_wait_s",schemaPath:"#/properties/max_cleanup_wait_s/type",keyword:"type",params:{type: schema66.properties.max_cleanup_wait_s.type},message:"must be integer,string",schema:schema66.properties.max_cleanup_wait_s.type,parentSchema:schema66.properties.max_cleanup_wait_s,data:data11};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
const reason3 = checkScalar.call(this, "duration", data11, schema66.properties.max_cleanup_wait_s, instancePath+"/max_cleanup_wait_s");
if(reason3 !== undefined){
const err19 = {instancePath:instancePath+"/max_cleanup_wait_s",schemaPath:"#/properties/max_cleanup_wait_s/x-value",keyword:"x-value",params:{},message:reason3,schema:"duration",parentSchema:schema66.properties.max_cleanup_wait_s,data:data11};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
}
if(data.max_cleanup_backoff_ms !== undefined){
let data12 = data.max_cleanup_backoff_ms;
if((!(((typeof data12 == "number") && (!(data12 % 1) && !isNaN(data12))) && (isFinite(data12)))) && (typeof data12 !== "string")){
const err20 = {instancePath:instancePath+"/max_cleanup_backoff_ms",schemaPath:"#/properties/max_cleanup_backoff_ms/type",keyword:"type",params:{type: schema66.properties.max_cleanup_backoff_ms.type},message:"must be integer,string",schema:schema66.properties.max_cleanup_backoff_ms.type,parentSchema:schema66.properties.max_cleanup_backoff_ms,data:data12};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
const reason4 = checkScalar.call(this, "duration_ms", data12, schema66.properties.max_cleanup_backoff_ms, instancePath+"/max_cleanup_backoff_ms");
if(reason4 !== undefined){
const err21 = {instancePath:instancePath+"/max_cleanup_backoff_ms",schemaPath:"#/properties/max_cleanup_backoff_ms/x-value",keyword:"x-value",params:{},message:reason4,schema:"duration_ms",parentSchema:schema66.properties.max_cleanup_backoff_ms,data:data12};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
}
if(data.max_inflight_tasks !== undefined){
let data13 = data.max_inflight_tasks;
if((!(((typeof data13 == "number") && (!(data13 % 1) && !isNaN(data13))) && (isFinite(data13)))) && (typeof data13 !== "string")){
const err22 = {instancePath:instancePath+"/max_inflight_tasks",schemaPath:"#/properties/max_inflight_tasks/type",keyword:"type",params:{type: schema66.properties.max_inflight_tasks.type},message:"must be integer,string",schema:schema66.properties.max_inflight_tasks.type,parentSchema:schema66.properties.max_inflight_tasks,data:data13};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
const reason5 = checkScalar.call(this, "parallelism", data13, schema66.properties.max_inflight_tasks, instancePath+"/max_inflight_tasks");
if(reason5 !== undefined){
const err23 = {instancePath:instancePath+"/max_inflight_tasks",schemaPath:"#/properties/max_inflight_tasks/x-value",keyword:"x-value",params:{},message:reason5,schema:"parallelism",parentSchema:schema66.properties.max_inflight_tasks,data:data13};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
if((typeof data13 == "number") && (isFinite(data13))){
if(data13 < 0 || isNaN(data13)){
const err24 = {instancePath:instancePath+"/max_inflight_tasks",schemaPath:"#/properties/max_inflight_tasks/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema66.properties.max_inflight_tasks,data:data13};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
}
}
if(data.timeout_handled_externally !== undefined){
let data14 = data.timeout_handled_externally;
if((typeof data14 !== "boolean") && (typeof data14 !== "string")){
const err25 = {instancePath:instancePath+"/timeout_handled_externally",schemaPath:"#/properties/timeout_handled_externally/type",keyword:"type",params:{type: schema66.properties.timeout_handled_externally.type},message:"must be boolean,string",schema:schema66.properties.timeout_handled_externally.type,parentSchema:schema66.properties.timeout_handled_externally,data:data14};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
const reason6 = checkScalar.call(this, "bool", data14, schema66.properties.timeout_handled_externally, instancePath+"/timeout_handled_externally");
if(reason6 !== undefined){
const err26 = {instancePath:instancePath+"/timeout_handled_externally",schemaPath:"#/properties/timeout_handled_externally/x-value",keyword:"x-value",params:{},message:reason6,schema:"bool",parentSchema:schema66.properties.timeout_handled_externally,data:data14};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
}
if(data.termination_grace_s !== undefined){
let data15 = data.termination_grace_s;
if((!(((typeof data15 == "number") && (!(data15 % 1) && !isNaN(data15))) && (isFinite(data15)))) && (typeof data15 !== "string")){
const err27 = {instancePath:instancePath+"/termination_grace_s",schemaPath:"#/properties/termination_grace_s/type",keyword:"type",params:{type: schema66.properties.termination_grace_s.type},message:"must be integer,string",schema:schema66.properties.termination_grace_s.type,parentSchema:schema66.properties.termination_grace_s,data:data15};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
const reason7 = checkScalar.call(this, "duration", data15, schema66.properties.termination_grace_s, instancePath+"/termination_grace_s");
if(reason7 !== undefined){
const err28 = {instancePath:instancePath+"/termination_grace_s",schemaPath:"#/properties/termination_grace_s/x-value",keyword:"x-value",params:{},message:reason7,schema:"duration",parentSchema:schema66.properties.termination_grace_s,data:data15};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
if((typeof data15 == "number") && (isFinite(data15))){
if(data15 < 0 || isNaN(data15)){
const err29 = {instancePath:instancePath+"/termination_grace_s",schemaPath:"#/properties/termination_grace_s/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema66.properties.termination_grace_s,data:data15};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
}
}
if(data.timeout_message !== undefined){
let data16 = data.timeout_message;
if(typeof data16 !== "string"){
const err30 = {instancePath:instancePath+"/timeout_message",schemaPath:"#/properties/timeout_message/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema66.properties.timeout_message.type,parentSchema:schema66.properties.timeout_message,data:data16};
if(vErrors === null){
vErrors = [err30];
}
else {
vErrors.push(err30);
}
errors++;
}
}
if(data.entrypoint !== undefined){
let data17 = data.entrypoint;
if(typeof data17 !== "string"){
const err31 = {instancePath:instancePath+"/entrypoint",schemaPath:"#/properties/entrypoint/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema66.properties.entrypoint.type,parentSchema:schema66.properties.entrypoint,data:data17};
if(vErrors === null){
vErrors = [err31];
}
else {
vErrors.push(err31);
}
errors++;
}
}
if(data.experimental_precondition_script !== undefined){
let data18 = data.experimental_precondition_script;
if(typeof data18 !== "string"){
const err32 = {instancePath:instancePath+"/experimental_precondition_script",schemaPath:"#/properties/experimental_precondition_script/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema66.properties.experimental_precondition_script.type,parentSchema:schema66.properties.experimental_precondition_script,data:data18};
if(vErrors === null){
vErrors = [err32];
}
else {
vErrors.push(err32);
}
errors++;
}
}
if(data.cas_fast_slow_store !== undefined){
let data19 = data.cas_fast_slow_store;
if(typeof data19 !== "string"){
const err33 = {instancePath:instancePath+"/cas_fast_slow_store",schemaPath:"#/properties/cas_fast_slow_store/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema66.properties.cas_fast_slow_store.type,parentSchema:schema66.properties.cas_fast_slow_store,data:data19};
if(vErrors === null){
vErrors = [err33];
}
else {
vErrors.push(err33);
}
errors++;
}
}
if(data.upload_action_result !== undefined){
if(!(validate159.call(this, data.upload_action_result, {instancePath:instancePath+"/upload_action_result",parentData:data,parentDataProperty:"upload_action_result",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate159.errors);
errors = vErrors.length;
}
}
if(data.work_directory !== undefined){
let data21 = data.work_directory;
if(typeof data21 !== "string"){
const err34 = {instancePath:instancePath+"/work_directory",schemaPath:"#/properties/work_directory/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema66.properties.work_directory.type,parentSchema:schema66.properties.work_directory,data:data21};
if(vErrors === null){
vErrors = [err34];
}
else {
vErrors.push(err34);
}
errors++;
}
}
if(data.platform_properties !== undefined){
let data22 = data.platform_properties;
if(data22 && typeof data22 == "object" && !Array.isArray(data22)){
for(const key3 in data22){
if(!(validate161.call(this, data22[key3], {instancePath:instancePath+"/platform_properties/" + key3.replace(/~/g, "~0").replace(/\//g, "~1"),parentData:data22,parentDataProperty:key3,rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate161.errors);
errors = vErrors.length;
}
}
}
else {
const err35 = {instancePath:instancePath+"/platform_properties",schemaPath:"#/properties/platform_properties/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema66.properties.platform_properties.type,parentSchema:schema66.properties.platform_properties,data:data22};
if(vErrors === null){
vErrors = [err35];
}
else {
vErrors.push(err35);
}
errors++;
}
}
if(data.additional_environment !== undefined){
let data24 = data.additional_environment;
if(data24 && typeof data24 == "object" && !Array.isArray(data24)){
for(const key4 in data24){
if(!(validate163.call(this, data24[key4], {instancePath:instancePath+"/additional_environment/" + key4.replace(/~/g, "~0").replace(/\//g, "~1"),parentData:data24,parentDataProperty:key4,rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate163.errors);
errors = vErrors.length;
}
}
}
else {
const err36 = {instancePath:instancePath+"/additional_environment",schemaPath:"#/properties/additional_environment/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema66.properties.additional_environment.type,parentSchema:schema66.properties.additional_environment,data:data24};
if(vErrors === null){
vErrors = [err36];
}
else {
vErrors.push(err36);
}
errors++;
}
}
if(data.default_path !== undefined){
let data26 = data.default_path;
if(typeof data26 !== "string"){
const err37 = {instancePath:instancePath+"/default_path",schemaPath:"#/properties/default_path/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema66.properties.default_path.type,parentSchema:schema66.properties.default_path,data:data26};
if(vErrors === null){
vErrors = [err37];
}
else {
vErrors.push(err37);
}
errors++;
}
}
if(data.action_limits !== undefined){
let data27 = data.action_limits;
if(data27 && typeof data27 == "object" && !Array.isArray(data27)){
for(const key5 in data27){
if(!((((key5 === "printed_bytes") || (key5 === "disk_bytes")) || (key5 === "processes")) || (key5 === "memory_bytes"))){
const err38 = {instancePath:instancePath+"/action_limits",schemaPath:"#/properties/action_limits/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key5},message:"must NOT have additional properties",schema:false,parentSchema:schema66.properties.action_limits,data:data27};
if(vErrors === null){
vErrors = [err38];
}
else {
vErrors.push(err38);
}
errors++;
}
}
if(data27.printed_bytes !== undefined){
let data28 = data27.printed_bytes;
if((!(((typeof data28 == "number") && (!(data28 % 1) && !isNaN(data28))) && (isFinite(data28)))) && (typeof data28 !== "string")){
const err39 = {instancePath:instancePath+"/action_limits/printed_bytes",schemaPath:"#/properties/action_limits/properties/printed_bytes/type",keyword:"type",params:{type: schema66.properties.action_limits.properties.printed_bytes.type},message:"must be integer,string",schema:schema66.properties.action_limits.properties.printed_bytes.type,parentSchema:schema66.properties.action_limits.properties.printed_bytes,data:data28};
if(vErrors === null){
vErrors = [err39];
}
else {
vErrors.push(err39);
}
errors++;
}
const reason8 = checkScalar.call(this, "size", data28, schema66.properties.action_limits.properties.printed_bytes, instancePath+"/action_limits/printed_bytes");
if(reason8 !== undefined){
const err40 = {instancePath:instancePath+"/action_limits/printed_bytes",schemaPath:"#/properties/action_limits/properties/printed_bytes/x-value",keyword:"x-value",params:{},message:reason8,schema:"size",parentSchema:schema66.properties.action_limits.properties.printed_bytes,data:data28};
if(vErrors === null){
vErrors = [err40];
}
else {
vErrors.push(err40);
}
errors++;
}
}
if(data27.disk_bytes !== undefined){
let data29 = data27.disk_bytes;
if((!(((typeof data29 == "number") && (!(data29 % 1) && !isNaN(data29))) && (isFinite(data29)))) && (typeof data29 !== "string")){
const err41 = {instancePath:instancePath+"/action_limits/disk_bytes",schemaPath:"#/properties/action_limits/properties/disk_bytes/type",keyword:"type",params:{type: schema66.properties.action_limits.properties.disk_bytes.type},message:"must be integer,string",schema:schema66.properties.action_limits.properties.disk_bytes.type,parentSchema:schema66.properties.action_limits.properties.disk_bytes,data:data29};
if(vErrors === null){
vErrors = [err41];
}
else {
vErrors.push(err41);
}
errors++;
}
const reason9 = checkScalar.call(this, "size", data29, schema66.properties.action_limits.properties.disk_bytes, instancePath+"/action_limits/disk_bytes");
if(reason9 !== undefined){
const err42 = {instancePath:instancePath+"/action_limits/disk_bytes",schemaPath:"#/properties/action_limits/properties/disk_bytes/x-value",keyword:"x-value",params:{},message:reason9,schema:"size",parentSchema:schema66.properties.action_limits.properties.disk_bytes,data:data29};
if(vErrors === null){
vErrors = [err42];
}
else {
vErrors.push(err42);
}
errors++;
}
}
if(data27.processes !== undefined){
let data30 = data27.processes;
if((!(((typeof data30 == "number") && (!(data30 % 1) && !isNaN(data30))) && (isFinite(data30)))) && (typeof data30 !== "string")){
const err43 = {instancePath:instancePath+"/action_limits/processes",schemaPath:"#/properties/action_limits/properties/processes/type",keyword:"type",params:{type: schema66.properties.action_limits.properties.processes.type},message:"must be integer,string",schema:schema66.properties.action_limits.properties.processes.type,parentSchema:schema66.properties.action_limits.properties.processes,data:data30};
if(vErrors === null){
vErrors = [err43];
}
else {
vErrors.push(err43);
}
errors++;
}
const reason10 = checkScalar.call(this, "count", data30, schema66.properties.action_limits.properties.processes, instancePath+"/action_limits/processes");
if(reason10 !== undefined){
const err44 = {instancePath:instancePath+"/action_limits/processes",schemaPath:"#/properties/action_limits/properties/processes/x-value",keyword:"x-value",params:{},message:reason10,schema:"count",parentSchema:schema66.properties.action_limits.properties.processes,data:data30};
if(vErrors === null){
vErrors = [err44];
}
else {
vErrors.push(err44);
}
errors++;
}
if((typeof data30 == "number") && (isFinite(data30))){
if(data30 < 0 || isNaN(data30)){
const err45 = {instancePath:instancePath+"/action_limits/processes",schemaPath:"#/properties/action_limits/properties/processes/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema66.properties.action_limits.properties.processes,data:data30};
if(vErrors === null){
vErrors = [err45];
}
else {
vErrors.push(err45);
}
errors++;
}
}
}
if(data27.memory_bytes !== undefined){
let data31 = data27.memory_bytes;
if((!(((typeof data31 == "number") && (!(data31 % 1) && !isNaN(data31))) && (isFinite(data31)))) && (typeof data31 !== "string")){
const err46 = {instancePath:instancePath+"/action_limits/memory_bytes",schemaPath:"#/properties/action_limits/properties/memory_bytes/type",keyword:"type",params:{type: schema66.properties.action_limits.properties.memory_bytes.type},message:"must be integer,string",schema:schema66.properties.action_limits.properties.memory_bytes.type,parentSchema:schema66.properties.action_limits.properties.memory_bytes,data:data31};
if(vErrors === null){
vErrors = [err46];
}
else {
vErrors.push(err46);
}
errors++;
}
const reason11 = checkScalar.call(this, "size", data31, schema66.properties.action_limits.properties.memory_bytes, instancePath+"/action_limits/memory_bytes");
if(reason11 !== undefined){
const err47 = {instancePath:instancePath+"/action_limits/memory_bytes",schemaPath:"#/properties/action_limits/properties/memory_bytes/x-value",keyword:"x-value",params:{},message:reason11,schema:"size",parentSchema:schema66.properties.action_limits.properties.memory_bytes,data:data31};
if(vErrors === null){
vErrors = [err47];
}
else {
vErrors.push(err47);
}
errors++;
}
}
}
else {
const err48 = {instancePath:instancePath+"/action_limits",schemaPath:"#/properties/action_limits/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema66.properties.action_limits.type,parentSchema:schema66.properties.action_limits,data:data27};
if(vErrors === null){
vErrors = [err48];
}
else {
vErrors.push(err48);
}
errors++;
}
}
if(data.directory_cache !== undefined){
let data32 = data.directory_cache;
if(data32 && typeof data32 == "object" && !Array.isArray(data32)){
for(const key6 in data32){
if(!(((((((key6 === "max_entries") || (key6 === "max_size_bytes")) || (key6 === "max_age_s")) || (key6 === "cache_root")) || (key6 === "experimental_subtree_caching")) || (key6 === "max_concurrent_fetches")) || (key6 === "experimental_get_tree_prefetch"))){
const err49 = {instancePath:instancePath+"/directory_cache",schemaPath:"#/properties/directory_cache/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key6},message:"must NOT have additional properties",schema:false,parentSchema:schema66.properties.directory_cache,data:data32};
if(vErrors === null){
vErrors = [err49];
}
else {
vErrors.push(err49);
}
errors++;
}
}
if(data32.max_entries !== undefined){
let data33 = data32.max_entries;
if((!(((typeof data33 == "number") && (!(data33 % 1) && !isNaN(data33))) && (isFinite(data33)))) && (typeof data33 !== "string")){
const err50 = {instancePath:instancePath+"/directory_cache/max_entries",schemaPath:"#/properties/directory_cache/properties/max_entries/type",keyword:"type",params:{type: schema66.properties.directory_cache.properties.max_entries.type},message:"must be integer,string",schema:schema66.properties.directory_cache.properties.max_entries.type,parentSchema:schema66.properties.directory_cache.properties.max_entries,data:data33};
if(vErrors === null){
vErrors = [err50];
}
else {
vErrors.push(err50);
}
errors++;
}
const reason12 = checkScalar.call(this, "count", data33, schema66.properties.directory_cache.properties.max_entries, instancePath+"/directory_cache/max_entries");
if(reason12 !== undefined){
const err51 = {instancePath:instancePath+"/directory_cache/max_entries",schemaPath:"#/properties/directory_cache/properties/max_entries/x-value",keyword:"x-value",params:{},message:reason12,schema:"count",parentSchema:schema66.properties.directory_cache.properties.max_entries,data:data33};
if(vErrors === null){
vErrors = [err51];
}
else {
vErrors.push(err51);
}
errors++;
}
if((typeof data33 == "number") && (isFinite(data33))){
if(data33 < 0 || isNaN(data33)){
const err52 = {instancePath:instancePath+"/directory_cache/max_entries",schemaPath:"#/properties/directory_cache/properties/max_entries/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema66.properties.directory_cache.properties.max_entries,data:data33};
if(vErrors === null){
vErrors = [err52];
}
else {
vErrors.push(err52);
}
errors++;
}
}
}
if(data32.max_size_bytes !== undefined){
let data34 = data32.max_size_bytes;
if((!(((typeof data34 == "number") && (!(data34 % 1) && !isNaN(data34))) && (isFinite(data34)))) && (typeof data34 !== "string")){
const err53 = {instancePath:instancePath+"/directory_cache/max_size_bytes",schemaPath:"#/properties/directory_cache/properties/max_size_bytes/type",keyword:"type",params:{type: schema66.properties.directory_cache.properties.max_size_bytes.type},message:"must be integer,string",schema:schema66.properties.directory_cache.properties.max_size_bytes.type,parentSchema:schema66.properties.directory_cache.properties.max_size_bytes,data:data34};
if(vErrors === null){
vErrors = [err53];
}
else {
vErrors.push(err53);
}
errors++;
}
const reason13 = checkScalar.call(this, "size", data34, schema66.properties.directory_cache.properties.max_size_bytes, instancePath+"/directory_cache/max_size_bytes");
if(reason13 !== undefined){
const err54 = {instancePath:instancePath+"/directory_cache/max_size_bytes",schemaPath:"#/properties/directory_cache/properties/max_size_bytes/x-value",keyword:"x-value",params:{},message:reason13,schema:"size",parentSchema:schema66.properties.directory_cache.properties.max_size_bytes,data:data34};
if(vErrors === null){
vErrors = [err54];
}
else {
vErrors.push(err54);
}
errors++;
}
}
if(data32.max_age_s !== undefined){
let data35 = data32.max_age_s;
if((!(((typeof data35 == "number") && (!(data35 % 1) && !isNaN(data35))) && (isFinite(data35)))) && (typeof data35 !== "string")){
const err55 = {instancePath:instancePath+"/directory_cache/max_age_s",schemaPath:"#/properties/directory_cache/properties/max_age_s/type",keyword:"type",params:{type: schema66.properties.directory_cache.properties.max_age_s.type},message:"must be integer,string",schema:schema66.properties.directory_cache.properties.max_age_s.type,parentSchema:schema66.properties.directory_cache.properties.max_age_s,data:data35};
if(vErrors === null){
vErrors = [err55];
}
else {
vErrors.push(err55);
}
errors++;
}
const reason14 = checkScalar.call(this, "duration", data35, schema66.properties.directory_cache.properties.max_age_s, instancePath+"/directory_cache/max_age_s");
if(reason14 !== undefined){
const err56 = {instancePath:instancePath+"/directory_cache/max_age_s",schemaPath:"#/properties/directory_cache/properties/max_age_s/x-value",keyword:"x-value",params:{},message:reason14,schema:"duration",parentSchema:schema66.properties.directory_cache.properties.max_age_s,data:data35};
if(vErrors === null){
vErrors = [err56];
}
else {
vErrors.push(err56);
}
errors++;
}
}
if(data32.cache_root !== undefined){
let data36 = data32.cache_root;
if(typeof data36 !== "string"){
const err57 = {instancePath:instancePath+"/directory_cache/cache_root",schemaPath:"#/properties/directory_cache/properties/cache_root/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema66.properties.directory_cache.properties.cache_root.type,parentSchema:schema66.properties.directory_cache.properties.cache_root,data:data36};
if(vErrors === null){
vErrors = [err57];
}
else {
vErrors.push(err57);
}
errors++;
}
}
if(data32.experimental_subtree_caching !== undefined){
let data37 = data32.experimental_subtree_caching;
if((typeof data37 !== "boolean") && (typeof data37 !== "string")){
const err58 = {instancePath:instancePath+"/directory_cache/experimental_subtree_caching",schemaPath:"#/properties/directory_cache/properties/experimental_subtree_caching/type",keyword:"type",params:{type: schema66.properties.directory_cache.properties.experimental_subtree_caching.type},message:"must be boolean,string",schema:schema66.properties.directory_cache.properties.experimental_subtree_caching.type,parentSchema:schema66.properties.directory_cache.properties.experimental_subtree_caching,data:data37};
if(vErrors === null){
vErrors = [err58];
}
else {
vErrors.push(err58);
}
errors++;
}
const reason15 = checkScalar.call(this, "bool", data37, schema66.properties.directory_cache.properties.experimental_subtree_caching, instancePath+"/directory_cache/experimental_subtree_caching");
if(reason15 !== undefined){
const err59 = {instancePath:instancePath+"/directory_cache/experimental_subtree_caching",schemaPath:"#/properties/directory_cache/properties/experimental_subtree_caching/x-value",keyword:"x-value",params:{},message:reason15,schema:"bool",parentSchema:schema66.properties.directory_cache.properties.experimental_subtree_caching,data:data37};
if(vErrors === null){
vErrors = [err59];
}
else {
vErrors.push(err59);
}
errors++;
}
}
if(data32.max_concurrent_fetches !== undefined){
let data38 = data32.max_concurrent_fetches;
if((!(((typeof data38 == "number") && (!(data38 % 1) && !isNaN(data38))) && (isFinite(data38)))) && (typeof data38 !== "string")){
const err60 = {instancePath:instancePath+"/directory_cache/max_concurrent_fetches",schemaPath:"#/properties/directory_cache/properties/max_concurrent_fetches/type",keyword:"type",params:{type: schema66.properties.directory_cache.properties.max_concurrent_fetches.type},message:"must be integer,string",schema:schema66.properties.directory_cache.properties.max_concurrent_fetches.type,parentSchema:schema66.properties.directory_cache.properties.max_concurrent_fetches,data:data38};
if(vErrors === null){
vErrors = [err60];
}
else {
vErrors.push(err60);
}
errors++;
}
const reason16 = checkScalar.call(this, "count", data38, schema66.properties.directory_cache.properties.max_concurrent_fetches, instancePath+"/directory_cache/max_concurrent_fetches");
if(reason16 !== undefined){
const err61 = {instancePath:instancePath+"/directory_cache/max_concurrent_fetches",schemaPath:"#/properties/directory_cache/properties/max_concurrent_fetches/x-value",keyword:"x-value",params:{},message:reason16,schema:"count",parentSchema:schema66.properties.directory_cache.properties.max_concurrent_fetches,data:data38};
if(vErrors === null){
vErrors = [err61];
}
else {
vErrors.push(err61);
}
errors++;
}
if((typeof data38 == "number") && (isFinite(data38))){
if(data38 < 1 || isNaN(data38)){
const err62 = {instancePath:instancePath+"/directory_cache/max_concurrent_fetches",schemaPath:"#/properties/directory_cache/properties/max_concurrent_fetches/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema66.properties.directory_cache.properties.max_concurrent_fetches,data:data38};
if(vErrors === null){
vErrors = [err62];
}
else {
vErrors.push(err62);
}
errors++;
}
}
}
if(data32.experimental_get_tree_prefetch !== undefined){
let data39 = data32.experimental_get_tree_prefetch;
if((typeof data39 !== "boolean") && (typeof data39 !== "string")){
const err63 = {instancePath:instancePath+"/directory_cache/experimental_get_tree_prefetch",schemaPath:"#/properties/directory_cache/properties/experimental_get_tree_prefetch/type",keyword:"type",params:{type: schema66.properties.directory_cache.properties.experimental_get_tree_prefetch.type},message:"must be boolean,string",schema:schema66.properties.directory_cache.properties.experimental_get_tree_prefetch.type,parentSchema:schema66.properties.directory_cache.properties.experimental_get_tree_prefetch,data:data39};
if(vErrors === null){
vErrors = [err63];
}
else {
vErrors.push(err63);
}
errors++;
}
const reason17 = checkScalar.call(this, "bool", data39, schema66.properties.directory_cache.properties.experimental_get_tree_prefetch, instancePath+"/directory_cache/experimental_get_tree_prefetch");
if(reason17 !== undefined){
const err64 = {instancePath:instancePath+"/directory_cache/experimental_get_tree_prefetch",schemaPath:"#/properties/directory_cache/properties/experimental_get_tree_prefetch/x-value",keyword:"x-value",params:{},message:reason17,schema:"bool",parentSchema:schema66.properties.directory_cache.properties.experimental_get_tree_prefetch,data:data39};
if(vErrors === null){
vErrors = [err64];
}
else {
vErrors.push(err64);
}
errors++;
}
}
}
else {
const err65 = {instancePath:instancePath+"/directory_cache",schemaPath:"#/properties/directory_cache/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema66.properties.directory_cache.type,parentSchema:schema66.properties.directory_cache,data:data32};
if(vErrors === null){
vErrors = [err65];
}
else {
vErrors.push(err65);
}
errors++;
}
}
if(data.experimental_active_input_leases !== undefined){
let data40 = data.experimental_active_input_leases;
if((typeof data40 !== "boolean") && (typeof data40 !== "string")){
const err66 = {instancePath:instancePath+"/experimental_active_input_leases",schemaPath:"#/properties/experimental_active_input_leases/type",keyword:"type",params:{type: schema66.properties.experimental_active_input_leases.type},message:"must be boolean,string",schema:schema66.properties.experimental_active_input_leases.type,parentSchema:schema66.properties.experimental_active_input_leases,data:data40};
if(vErrors === null){
vErrors = [err66];
}
else {
vErrors.push(err66);
}
errors++;
}
const reason18 = checkScalar.call(this, "bool", data40, schema66.properties.experimental_active_input_leases, instancePath+"/experimental_active_input_leases");
if(reason18 !== undefined){
const err67 = {instancePath:instancePath+"/experimental_active_input_leases",schemaPath:"#/properties/experimental_active_input_leases/x-value",keyword:"x-value",params:{},message:reason18,schema:"bool",parentSchema:schema66.properties.experimental_active_input_leases,data:data40};
if(vErrors === null){
vErrors = [err67];
}
else {
vErrors.push(err67);
}
errors++;
}
}
if(data.control_groups !== undefined){
let data41 = data.control_groups;
if(data41 && typeof data41 == "object" && !Array.isArray(data41)){
for(const key7 in data41){
if(!((((key7 === "use") || (key7 === "directory")) || (key7 === "memory_property")) || (key7 === "cpu_property"))){
const err68 = {instancePath:instancePath+"/control_groups",schemaPath:"#/properties/control_groups/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key7},message:"must NOT have additional properties",schema:false,parentSchema:schema66.properties.control_groups,data:data41};
if(vErrors === null){
vErrors = [err68];
}
else {
vErrors.push(err68);
}
errors++;
}
}
if(data41.use !== undefined){
let data42 = data41.use;
if(typeof data42 !== "string"){
const err69 = {instancePath:instancePath+"/control_groups/use",schemaPath:"#/properties/control_groups/properties/use/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema66.properties.control_groups.properties.use.type,parentSchema:schema66.properties.control_groups.properties.use,data:data42};
if(vErrors === null){
vErrors = [err69];
}
else {
vErrors.push(err69);
}
errors++;
}
if(!(((data42 === "if_delegated") || (data42 === "always")) || (data42 === "never"))){
const err70 = {instancePath:instancePath+"/control_groups/use",schemaPath:"#/properties/control_groups/properties/use/enum",keyword:"enum",params:{allowedValues: schema66.properties.control_groups.properties.use.enum},message:"must be equal to one of the allowed values",schema:schema66.properties.control_groups.properties.use.enum,parentSchema:schema66.properties.control_groups.properties.use,data:data42};
if(vErrors === null){
vErrors = [err70];
}
else {
vErrors.push(err70);
}
errors++;
}
}
if(data41.directory !== undefined){
let data43 = data41.directory;
if(typeof data43 !== "string"){
const err71 = {instancePath:instancePath+"/control_groups/directory",schemaPath:"#/properties/control_groups/properties/directory/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema66.properties.control_groups.properties.directory.type,parentSchema:schema66.properties.control_groups.properties.directory,data:data43};
if(vErrors === null){
vErrors = [err71];
}
else {
vErrors.push(err71);
}
errors++;
}
}
if(data41.memory_property !== undefined){
let data44 = data41.memory_property;
if(typeof data44 !== "string"){
const err72 = {instancePath:instancePath+"/control_groups/memory_property",schemaPath:"#/properties/control_groups/properties/memory_property/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema66.properties.control_groups.properties.memory_property.type,parentSchema:schema66.properties.control_groups.properties.memory_property,data:data44};
if(vErrors === null){
vErrors = [err72];
}
else {
vErrors.push(err72);
}
errors++;
}
}
if(data41.cpu_property !== undefined){
let data45 = data41.cpu_property;
if(typeof data45 !== "string"){
const err73 = {instancePath:instancePath+"/control_groups/cpu_property",schemaPath:"#/properties/control_groups/properties/cpu_property/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema66.properties.control_groups.properties.cpu_property.type,parentSchema:schema66.properties.control_groups.properties.cpu_property,data:data45};
if(vErrors === null){
vErrors = [err73];
}
else {
vErrors.push(err73);
}
errors++;
}
}
}
else {
const err74 = {instancePath:instancePath+"/control_groups",schemaPath:"#/properties/control_groups/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema66.properties.control_groups.type,parentSchema:schema66.properties.control_groups,data:data41};
if(vErrors === null){
vErrors = [err74];
}
else {
vErrors.push(err74);
}
errors++;
}
}
if(data.container_images !== undefined){
let data46 = data.container_images;
if(data46 && typeof data46 == "object" && !Array.isArray(data46)){
for(const key8 in data46){
if(!(func1.call(schema66.properties.container_images.properties, key8))){
const err75 = {instancePath:instancePath+"/container_images",schemaPath:"#/properties/container_images/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key8},message:"must NOT have additional properties",schema:false,parentSchema:schema66.properties.container_images,data:data46};
if(vErrors === null){
vErrors = [err75];
}
else {
vErrors.push(err75);
}
errors++;
}
}
if(data46.directory !== undefined){
let data47 = data46.directory;
if(typeof data47 !== "string"){
const err76 = {instancePath:instancePath+"/container_images/directory",schemaPath:"#/properties/container_images/properties/directory/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema66.properties.container_images.properties.directory.type,parentSchema:schema66.properties.container_images.properties.directory,data:data47};
if(vErrors === null){
vErrors = [err76];
}
else {
vErrors.push(err76);
}
errors++;
}
}
if(data46.max_bytes !== undefined){
let data48 = data46.max_bytes;
if((!(((typeof data48 == "number") && (!(data48 % 1) && !isNaN(data48))) && (isFinite(data48)))) && (typeof data48 !== "string")){
const err77 = {instancePath:instancePath+"/container_images/max_bytes",schemaPath:"#/properties/container_images/properties/max_bytes/type",keyword:"type",params:{type: schema66.properties.container_images.properties.max_bytes.type},message:"must be integer,string",schema:schema66.properties.container_images.properties.max_bytes.type,parentSchema:schema66.properties.container_images.properties.max_bytes,data:data48};
if(vErrors === null){
vErrors = [err77];
}
else {
vErrors.push(err77);
}
errors++;
}
const reason19 = checkScalar.call(this, "size", data48, schema66.properties.container_images.properties.max_bytes, instancePath+"/container_images/max_bytes");
if(reason19 !== undefined){
const err78 = {instancePath:instancePath+"/container_images/max_bytes",schemaPath:"#/properties/container_images/properties/max_bytes/x-value",keyword:"x-value",params:{},message:reason19,schema:"size",parentSchema:schema66.properties.container_images.properties.max_bytes,data:data48};
if(vErrors === null){
vErrors = [err78];
}
else {
vErrors.push(err78);
}
errors++;
}
}
if(data46.max_age_s !== undefined){
let data49 = data46.max_age_s;
if((!(((typeof data49 == "number") && (!(data49 % 1) && !isNaN(data49))) && (isFinite(data49)))) && (typeof data49 !== "string")){
const err79 = {instancePath:instancePath+"/container_images/max_age_s",schemaPath:"#/properties/container_images/properties/max_age_s/type",keyword:"type",params:{type: schema66.properties.container_images.properties.max_age_s.type},message:"must be integer,string",schema:schema66.properties.container_images.properties.max_age_s.type,parentSchema:schema66.properties.container_images.properties.max_age_s,data:data49};
if(vErrors === null){
vErrors = [err79];
}
else {
vErrors.push(err79);
}
errors++;
}
const reason20 = checkScalar.call(this, "duration", data49, schema66.properties.container_images.properties.max_age_s, instancePath+"/container_images/max_age_s");
if(reason20 !== undefined){
const err80 = {instancePath:instancePath+"/container_images/max_age_s",schemaPath:"#/properties/container_images/properties/max_age_s/x-value",keyword:"x-value",params:{},message:reason20,schema:"duration",parentSchema:schema66.properties.container_images.properties.max_age_s,data:data49};
if(vErrors === null){
vErrors = [err80];
}
else {
vErrors.push(err80);
}
errors++;
}
}
if(data46.max_image_bytes !== undefined){
let data50 = data46.max_image_bytes;
if((!(((typeof data50 == "number") && (!(data50 % 1) && !isNaN(data50))) && (isFinite(data50)))) && (typeof data50 !== "string")){
const err81 = {instancePath:instancePath+"/container_images/max_image_bytes",schemaPath:"#/properties/container_images/properties/max_image_bytes/type",keyword:"type",params:{type: schema66.properties.container_images.properties.max_image_bytes.type},message:"must be integer,string",schema:schema66.properties.container_images.properties.max_image_bytes.type,parentSchema:schema66.properties.container_images.properties.max_image_bytes,data:data50};
if(vErrors === null){
vErrors = [err81];
}
else {
vErrors.push(err81);
}
errors++;
}
const reason21 = checkScalar.call(this, "size", data50, schema66.properties.container_images.properties.max_image_bytes, instancePath+"/container_images/max_image_bytes");
if(reason21 !== undefined){
const err82 = {instancePath:instancePath+"/container_images/max_image_bytes",schemaPath:"#/properties/container_images/properties/max_image_bytes/x-value",keyword:"x-value",params:{},message:reason21,schema:"size",parentSchema:schema66.properties.container_images.properties.max_image_bytes,data:data50};
if(vErrors === null){
vErrors = [err82];
}
else {
vErrors.push(err82);
}
errors++;
}
}
if(data46.max_image_files !== undefined){
let data51 = data46.max_image_files;
if((!(((typeof data51 == "number") && (!(data51 % 1) && !isNaN(data51))) && (isFinite(data51)))) && (typeof data51 !== "string")){
const err83 = {instancePath:instancePath+"/container_images/max_image_files",schemaPath:"#/properties/container_images/properties/max_image_files/type",keyword:"type",params:{type: schema66.properties.container_images.properties.max_image_files.type},message:"must be integer,string",schema:schema66.properties.container_images.properties.max_image_files.type,parentSchema:schema66.properties.container_images.properties.max_image_files,data:data51};
if(vErrors === null){
vErrors = [err83];
}
else {
vErrors.push(err83);
}
errors++;
}
const reason22 = checkScalar.call(this, "count", data51, schema66.properties.container_images.properties.max_image_files, instancePath+"/container_images/max_image_files");
if(reason22 !== undefined){
const err84 = {instancePath:instancePath+"/container_images/max_image_files",schemaPath:"#/properties/container_images/properties/max_image_files/x-value",keyword:"x-value",params:{},message:reason22,schema:"count",parentSchema:schema66.properties.container_images.properties.max_image_files,data:data51};
if(vErrors === null){
vErrors = [err84];
}
else {
vErrors.push(err84);
}
errors++;
}
if((typeof data51 == "number") && (isFinite(data51))){
if(data51 < 1 || isNaN(data51)){
const err85 = {instancePath:instancePath+"/container_images/max_image_files",schemaPath:"#/properties/container_images/properties/max_image_files/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema66.properties.container_images.properties.max_image_files,data:data51};
if(vErrors === null){
vErrors = [err85];
}
else {
vErrors.push(err85);
}
errors++;
}
}
}
if(data46.pull_timeout_s !== undefined){
let data52 = data46.pull_timeout_s;
if((!(((typeof data52 == "number") && (!(data52 % 1) && !isNaN(data52))) && (isFinite(data52)))) && (typeof data52 !== "string")){
const err86 = {instancePath:instancePath+"/container_images/pull_timeout_s",schemaPath:"#/properties/container_images/properties/pull_timeout_s/type",keyword:"type",params:{type: schema66.properties.container_images.properties.pull_timeout_s.type},message:"must be integer,string",schema:schema66.properties.container_images.properties.pull_timeout_s.type,parentSchema:schema66.properties.container_images.properties.pull_timeout_s,data:data52};
if(vErrors === null){
vErrors = [err86];
}
else {
vErrors.push(err86);
}
errors++;
}
const reason23 = checkScalar.call(this, "duration", data52, schema66.properties.container_images.properties.pull_timeout_s, instancePath+"/container_images/pull_timeout_s");
if(reason23 !== undefined){
const err87 = {instancePath:instancePath+"/container_images/pull_timeout_s",schemaPath:"#/properties/container_images/properties/pull_timeout_s/x-value",keyword:"x-value",params:{},message:reason23,schema:"duration",parentSchema:schema66.properties.container_images.properties.pull_timeout_s,data:data52};
if(vErrors === null){
vErrors = [err87];
}
else {
vErrors.push(err87);
}
errors++;
}
}
if(data46.tag_age_s !== undefined){
let data53 = data46.tag_age_s;
if((!(((typeof data53 == "number") && (!(data53 % 1) && !isNaN(data53))) && (isFinite(data53)))) && (typeof data53 !== "string")){
const err88 = {instancePath:instancePath+"/container_images/tag_age_s",schemaPath:"#/properties/container_images/properties/tag_age_s/type",keyword:"type",params:{type: schema66.properties.container_images.properties.tag_age_s.type},message:"must be integer,string",schema:schema66.properties.container_images.properties.tag_age_s.type,parentSchema:schema66.properties.container_images.properties.tag_age_s,data:data53};
if(vErrors === null){
vErrors = [err88];
}
else {
vErrors.push(err88);
}
errors++;
}
const reason24 = checkScalar.call(this, "duration", data53, schema66.properties.container_images.properties.tag_age_s, instancePath+"/container_images/tag_age_s");
if(reason24 !== undefined){
const err89 = {instancePath:instancePath+"/container_images/tag_age_s",schemaPath:"#/properties/container_images/properties/tag_age_s/x-value",keyword:"x-value",params:{},message:reason24,schema:"duration",parentSchema:schema66.properties.container_images.properties.tag_age_s,data:data53};
if(vErrors === null){
vErrors = [err89];
}
else {
vErrors.push(err89);
}
errors++;
}
}
if(data46.registries !== undefined){
let data54 = data46.registries;
if(Array.isArray(data54)){
const len0 = data54.length;
for(let i0=0; i0<len0; i0++){
let data55 = data54[i0];
if(typeof data55 !== "string"){
const err90 = {instancePath:instancePath+"/container_images/registries/" + i0,schemaPath:"#/properties/container_images/properties/registries/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema66.properties.container_images.properties.registries.items.type,parentSchema:schema66.properties.container_images.properties.registries.items,data:data55};
if(vErrors === null){
vErrors = [err90];
}
else {
vErrors.push(err90);
}
errors++;
}
}
}
else {
const err91 = {instancePath:instancePath+"/container_images/registries",schemaPath:"#/properties/container_images/properties/registries/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema66.properties.container_images.properties.registries.type,parentSchema:schema66.properties.container_images.properties.registries,data:data54};
if(vErrors === null){
vErrors = [err91];
}
else {
vErrors.push(err91);
}
errors++;
}
}
if(data46.allow_addresses !== undefined){
let data56 = data46.allow_addresses;
if(Array.isArray(data56)){
const len1 = data56.length;
for(let i1=0; i1<len1; i1++){
let data57 = data56[i1];
if(typeof data57 !== "string"){
const err92 = {instancePath:instancePath+"/container_images/allow_addresses/" + i1,schemaPath:"#/properties/container_images/properties/allow_addresses/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema66.properties.container_images.properties.allow_addresses.items.type,parentSchema:schema66.properties.container_images.properties.allow_addresses.items,data:data57};
if(vErrors === null){
vErrors = [err92];
}
else {
vErrors.push(err92);
}
errors++;
}
}
}
else {
const err93 = {instancePath:instancePath+"/container_images/allow_addresses",schemaPath:"#/properties/container_images/properties/allow_addresses/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema66.properties.container_images.properties.allow_addresses.type,parentSchema:schema66.properties.container_images.properties.allow_addresses,data:data56};
if(vErrors === null){
vErrors = [err93];
}
else {
vErrors.push(err93);
}
errors++;
}
}
if(data46.prefetch !== undefined){
let data58 = data46.prefetch;
if(Array.isArray(data58)){
const len2 = data58.length;
for(let i2=0; i2<len2; i2++){
let data59 = data58[i2];
if(typeof data59 !== "string"){
const err94 = {instancePath:instancePath+"/container_images/prefetch/" + i2,schemaPath:"#/properties/container_images/properties/prefetch/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema66.properties.container_images.properties.prefetch.items.type,parentSchema:schema66.properties.container_images.properties.prefetch.items,data:data59};
if(vErrors === null){
vErrors = [err94];
}
else {
vErrors.push(err94);
}
errors++;
}
}
}
else {
const err95 = {instancePath:instancePath+"/container_images/prefetch",schemaPath:"#/properties/container_images/properties/prefetch/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema66.properties.container_images.properties.prefetch.type,parentSchema:schema66.properties.container_images.properties.prefetch,data:data58};
if(vErrors === null){
vErrors = [err95];
}
else {
vErrors.push(err95);
}
errors++;
}
}
if(data46.auth_file !== undefined){
let data60 = data46.auth_file;
if(typeof data60 !== "string"){
const err96 = {instancePath:instancePath+"/container_images/auth_file",schemaPath:"#/properties/container_images/properties/auth_file/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema66.properties.container_images.properties.auth_file.type,parentSchema:schema66.properties.container_images.properties.auth_file,data:data60};
if(vErrors === null){
vErrors = [err96];
}
else {
vErrors.push(err96);
}
errors++;
}
}
}
else {
const err97 = {instancePath:instancePath+"/container_images",schemaPath:"#/properties/container_images/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema66.properties.container_images.type,parentSchema:schema66.properties.container_images,data:data46};
if(vErrors === null){
vErrors = [err97];
}
else {
vErrors.push(err97);
}
errors++;
}
}
if(data.persistent_workers !== undefined){
let data61 = data.persistent_workers;
if(data61 && typeof data61 == "object" && !Array.isArray(data61)){
for(const key9 in data61){
if(!(((((key9 === "enabled") || (key9 === "max_processes")) || (key9 === "max_idle_s")) || (key9 === "max_requests")) || (key9 === "max_memory_bytes"))){
const err98 = {instancePath:instancePath+"/persistent_workers",schemaPath:"#/properties/persistent_workers/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key9},message:"must NOT have additional properties",schema:false,parentSchema:schema66.properties.persistent_workers,data:data61};
if(vErrors === null){
vErrors = [err98];
}
else {
vErrors.push(err98);
}
errors++;
}
}
if(data61.enabled !== undefined){
let data62 = data61.enabled;
if((typeof data62 !== "boolean") && (typeof data62 !== "string")){
const err99 = {instancePath:instancePath+"/persistent_workers/enabled",schemaPath:"#/properties/persistent_workers/properties/enabled/type",keyword:"type",params:{type: schema66.properties.persistent_workers.properties.enabled.type},message:"must be boolean,string",schema:schema66.properties.persistent_workers.properties.enabled.type,parentSchema:schema66.properties.persistent_workers.properties.enabled,data:data62};
if(vErrors === null){
vErrors = [err99];
}
else {
vErrors.push(err99);
}
errors++;
}
const reason25 = checkScalar.call(this, "bool", data62, schema66.properties.persistent_workers.properties.enabled, instancePath+"/persistent_workers/enabled");
if(reason25 !== undefined){
const err100 = {instancePath:instancePath+"/persistent_workers/enabled",schemaPath:"#/properties/persistent_workers/properties/enabled/x-value",keyword:"x-value",params:{},message:reason25,schema:"bool",parentSchema:schema66.properties.persistent_workers.properties.enabled,data:data62};
if(vErrors === null){
vErrors = [err100];
}
else {
vErrors.push(err100);
}
errors++;
}
}
if(data61.max_processes !== undefined){
let data63 = data61.max_processes;
if((!(((typeof data63 == "number") && (!(data63 % 1) && !isNaN(data63))) && (isFinite(data63)))) && (typeof data63 !== "string")){
const err101 = {instancePath:instancePath+"/persistent_workers/max_processes",schemaPath:"#/properties/persistent_workers/properties/max_processes/type",keyword:"type",params:{type: schema66.properties.persistent_workers.properties.max_processes.type},message:"must be integer,string",schema:schema66.properties.persistent_workers.properties.max_processes.type,parentSchema:schema66.properties.persistent_workers.properties.max_processes,data:data63};
if(vErrors === null){
vErrors = [err101];
}
else {
vErrors.push(err101);
}
errors++;
}
const reason26 = checkScalar.call(this, "count", data63, schema66.properties.persistent_workers.properties.max_processes, instancePath+"/persistent_workers/max_processes");
if(reason26 !== undefined){
const err102 = {instancePath:instancePath+"/persistent_workers/max_processes",schemaPath:"#/properties/persistent_workers/properties/max_processes/x-value",keyword:"x-value",params:{},message:reason26,schema:"count",parentSchema:schema66.properties.persistent_workers.properties.max_processes,data:data63};
if(vErrors === null){
vErrors = [err102];
}
else {
vErrors.push(err102);
}
errors++;
}
if((typeof data63 == "number") && (isFinite(data63))){
if(data63 < 0 || isNaN(data63)){
const err103 = {instancePath:instancePath+"/persistent_workers/max_processes",schemaPath:"#/properties/persistent_workers/properties/max_processes/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema66.properties.persistent_workers.properties.max_processes,data:data63};
if(vErrors === null){
vErrors = [err103];
}
else {
vErrors.push(err103);
}
errors++;
}
}
}
if(data61.max_idle_s !== undefined){
let data64 = data61.max_idle_s;
if((!(((typeof data64 == "number") && (!(data64 % 1) && !isNaN(data64))) && (isFinite(data64)))) && (typeof data64 !== "string")){
const err104 = {instancePath:instancePath+"/persistent_workers/max_idle_s",schemaPath:"#/properties/persistent_workers/properties/max_idle_s/type",keyword:"type",params:{type: schema66.properties.persistent_workers.properties.max_idle_s.type},message:"must be integer,string",schema:schema66.properties.persistent_workers.properties.max_idle_s.type,parentSchema:schema66.properties.persistent_workers.properties.max_idle_s,data:data64};
if(vErrors === null){
vErrors = [err104];
}
else {
vErrors.push(err104);
}
errors++;
}
const reason27 = checkScalar.call(this, "duration", data64, schema66.properties.persistent_workers.properties.max_idle_s, instancePath+"/persistent_workers/max_idle_s");
if(reason27 !== undefined){
const err105 = {instancePath:instancePath+"/persistent_workers/max_idle_s",schemaPath:"#/properties/persistent_workers/properties/max_idle_s/x-value",keyword:"x-value",params:{},message:reason27,schema:"duration",parentSchema:schema66.properties.persistent_workers.properties.max_idle_s,data:data64};
if(vErrors === null){
vErrors = [err105];
}
else {
vErrors.push(err105);
}
errors++;
}
}
if(data61.max_requests !== undefined){
let data65 = data61.max_requests;
if((!(((typeof data65 == "number") && (!(data65 % 1) && !isNaN(data65))) && (isFinite(data65)))) && (typeof data65 !== "string")){
const err106 = {instancePath:instancePath+"/persistent_workers/max_requests",schemaPath:"#/properties/persistent_workers/properties/max_requests/type",keyword:"type",params:{type: schema66.properties.persistent_workers.properties.max_requests.type},message:"must be integer,string",schema:schema66.properties.persistent_workers.properties.max_requests.type,parentSchema:schema66.properties.persistent_workers.properties.max_requests,data:data65};
if(vErrors === null){
vErrors = [err106];
}
else {
vErrors.push(err106);
}
errors++;
}
const reason28 = checkScalar.call(this, "count", data65, schema66.properties.persistent_workers.properties.max_requests, instancePath+"/persistent_workers/max_requests");
if(reason28 !== undefined){
const err107 = {instancePath:instancePath+"/persistent_workers/max_requests",schemaPath:"#/properties/persistent_workers/properties/max_requests/x-value",keyword:"x-value",params:{},message:reason28,schema:"count",parentSchema:schema66.properties.persistent_workers.properties.max_requests,data:data65};
if(vErrors === null){
vErrors = [err107];
}
else {
vErrors.push(err107);
}
errors++;
}
if((typeof data65 == "number") && (isFinite(data65))){
if(data65 < 0 || isNaN(data65)){
const err108 = {instancePath:instancePath+"/persistent_workers/max_requests",schemaPath:"#/properties/persistent_workers/properties/max_requests/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema66.properties.persistent_workers.properties.max_requests,data:data65};
if(vErrors === null){
vErrors = [err108];
}
else {
vErrors.push(err108);
}
errors++;
}
}
}
if(data61.max_memory_bytes !== undefined){
let data66 = data61.max_memory_bytes;
if((!(((typeof data66 == "number") && (!(data66 % 1) && !isNaN(data66))) && (isFinite(data66)))) && (typeof data66 !== "string")){
const err109 = {instancePath:instancePath+"/persistent_workers/max_memory_bytes",schemaPath:"#/properties/persistent_workers/properties/max_memory_bytes/type",keyword:"type",params:{type: schema66.properties.persistent_workers.properties.max_memory_bytes.type},message:"must be integer,string",schema:schema66.properties.persistent_workers.properties.max_memory_bytes.type,parentSchema:schema66.properties.persistent_workers.properties.max_memory_bytes,data:data66};
if(vErrors === null){
vErrors = [err109];
}
else {
vErrors.push(err109);
}
errors++;
}
const reason29 = checkScalar.call(this, "size", data66, schema66.properties.persistent_workers.properties.max_memory_bytes, instancePath+"/persistent_workers/max_memory_bytes");
if(reason29 !== undefined){
const err110 = {instancePath:instancePath+"/persistent_workers/max_memory_bytes",schemaPath:"#/properties/persistent_workers/properties/max_memory_bytes/x-value",keyword:"x-value",params:{},message:reason29,schema:"size",parentSchema:schema66.properties.persistent_workers.properties.max_memory_bytes,data:data66};
if(vErrors === null){
vErrors = [err110];
}
else {
vErrors.push(err110);
}
errors++;
}
}
}
else {
const err111 = {instancePath:instancePath+"/persistent_workers",schemaPath:"#/properties/persistent_workers/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema66.properties.persistent_workers.type,parentSchema:schema66.properties.persistent_workers,data:data61};
if(vErrors === null){
vErrors = [err111];
}
else {
vErrors.push(err111);
}
errors++;
}
}
if(data.use_namespaces !== undefined){
let data67 = data.use_namespaces;
if((typeof data67 !== "boolean") && (typeof data67 !== "string")){
const err112 = {instancePath:instancePath+"/use_namespaces",schemaPath:"#/properties/use_namespaces/type",keyword:"type",params:{type: schema66.properties.use_namespaces.type},message:"must be boolean,string",schema:schema66.properties.use_namespaces.type,parentSchema:schema66.properties.use_namespaces,data:data67};
if(vErrors === null){
vErrors = [err112];
}
else {
vErrors.push(err112);
}
errors++;
}
const reason30 = checkScalar.call(this, "bool", data67, schema66.properties.use_namespaces, instancePath+"/use_namespaces");
if(reason30 !== undefined){
const err113 = {instancePath:instancePath+"/use_namespaces",schemaPath:"#/properties/use_namespaces/x-value",keyword:"x-value",params:{},message:reason30,schema:"bool",parentSchema:schema66.properties.use_namespaces,data:data67};
if(vErrors === null){
vErrors = [err113];
}
else {
vErrors.push(err113);
}
errors++;
}
}
if(data.keep_network !== undefined){
let data68 = data.keep_network;
if((typeof data68 !== "boolean") && (typeof data68 !== "string")){
const err114 = {instancePath:instancePath+"/keep_network",schemaPath:"#/properties/keep_network/type",keyword:"type",params:{type: schema66.properties.keep_network.type},message:"must be boolean,string",schema:schema66.properties.keep_network.type,parentSchema:schema66.properties.keep_network,data:data68};
if(vErrors === null){
vErrors = [err114];
}
else {
vErrors.push(err114);
}
errors++;
}
const reason31 = checkScalar.call(this, "bool", data68, schema66.properties.keep_network, instancePath+"/keep_network");
if(reason31 !== undefined){
const err115 = {instancePath:instancePath+"/keep_network",schemaPath:"#/properties/keep_network/x-value",keyword:"x-value",params:{},message:reason31,schema:"bool",parentSchema:schema66.properties.keep_network,data:data68};
if(vErrors === null){
vErrors = [err115];
}
else {
vErrors.push(err115);
}
errors++;
}
}
if(data.use_mount_namespace !== undefined){
let data69 = data.use_mount_namespace;
if((typeof data69 !== "boolean") && (typeof data69 !== "string")){
const err116 = {instancePath:instancePath+"/use_mount_namespace",schemaPath:"#/properties/use_mount_namespace/type",keyword:"type",params:{type: schema66.properties.use_mount_namespace.type},message:"must be boolean,string",schema:schema66.properties.use_mount_namespace.type,parentSchema:schema66.properties.use_mount_namespace,data:data69};
if(vErrors === null){
vErrors = [err116];
}
else {
vErrors.push(err116);
}
errors++;
}
const reason32 = checkScalar.call(this, "bool", data69, schema66.properties.use_mount_namespace, instancePath+"/use_mount_namespace");
if(reason32 !== undefined){
const err117 = {instancePath:instancePath+"/use_mount_namespace",schemaPath:"#/properties/use_mount_namespace/x-value",keyword:"x-value",params:{},message:reason32,schema:"bool",parentSchema:schema66.properties.use_mount_namespace,data:data69};
if(vErrors === null){
vErrors = [err117];
}
else {
vErrors.push(err117);
}
errors++;
}
}
if(data.read_only_inputs !== undefined){
let data70 = data.read_only_inputs;
if((typeof data70 !== "boolean") && (typeof data70 !== "string")){
const err118 = {instancePath:instancePath+"/read_only_inputs",schemaPath:"#/properties/read_only_inputs/type",keyword:"type",params:{type: schema66.properties.read_only_inputs.type},message:"must be boolean,string",schema:schema66.properties.read_only_inputs.type,parentSchema:schema66.properties.read_only_inputs,data:data70};
if(vErrors === null){
vErrors = [err118];
}
else {
vErrors.push(err118);
}
errors++;
}
const reason33 = checkScalar.call(this, "bool", data70, schema66.properties.read_only_inputs, instancePath+"/read_only_inputs");
if(reason33 !== undefined){
const err119 = {instancePath:instancePath+"/read_only_inputs",schemaPath:"#/properties/read_only_inputs/x-value",keyword:"x-value",params:{},message:reason33,schema:"bool",parentSchema:schema66.properties.read_only_inputs,data:data70};
if(vErrors === null){
vErrors = [err119];
}
else {
vErrors.push(err119);
}
errors++;
}
}
if(data.input_root_is_root !== undefined){
let data71 = data.input_root_is_root;
if((typeof data71 !== "boolean") && (typeof data71 !== "string")){
const err120 = {instancePath:instancePath+"/input_root_is_root",schemaPath:"#/properties/input_root_is_root/type",keyword:"type",params:{type: schema66.properties.input_root_is_root.type},message:"must be boolean,string",schema:schema66.properties.input_root_is_root.type,parentSchema:schema66.properties.input_root_is_root,data:data71};
if(vErrors === null){
vErrors = [err120];
}
else {
vErrors.push(err120);
}
errors++;
}
const reason34 = checkScalar.call(this, "bool", data71, schema66.properties.input_root_is_root, instancePath+"/input_root_is_root");
if(reason34 !== undefined){
const err121 = {instancePath:instancePath+"/input_root_is_root",schemaPath:"#/properties/input_root_is_root/x-value",keyword:"x-value",params:{},message:reason34,schema:"bool",parentSchema:schema66.properties.input_root_is_root,data:data71};
if(vErrors === null){
vErrors = [err121];
}
else {
vErrors.push(err121);
}
errors++;
}
}
}
else {
const err122 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema66.type,parentSchema:schema66,data};
if(vErrors === null){
vErrors = [err122];
}
else {
vErrors.push(err122);
}
errors++;
}
validate153.errors = vErrors;
return errors === 0;
}
validate153.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema72 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/worker/worker.json","title":"worker","x-becomes":"local","description":"Another way to write a local worker, with the address of the scheduler as plain text.","type":"object","properties":{"scheduler_endpoint":{"description":"`grpc://host:port` of the worker API, as `worker_api_endpoint.uri` of a local worker.","type":"string"},"name":{"$ref":"https://remexec.invalid/schema/worker/local.json#/properties/name"},"max_action_timeout_s":{"$ref":"https://remexec.invalid/schema/worker/local.json#/properties/max_action_timeout_s"},"max_action_timeout":{"$ref":"https://remexec.invalid/schema/worker/local.json#/properties/max_action_timeout"},"max_upload_timeout_s":{"$ref":"https://remexec.invalid/schema/worker/local.json#/properties/max_upload_timeout_s"},"max_upload_timeout":{"$ref":"https://remexec.invalid/schema/worker/local.json#/properties/max_upload_timeout"},"max_cleanup_wait_s":{"$ref":"https://remexec.invalid/schema/worker/local.json#/properties/max_cleanup_wait_s"},"max_cleanup_backoff_ms":{"$ref":"https://remexec.invalid/schema/worker/local.json#/properties/max_cleanup_backoff_ms"},"max_inflight_tasks":{"$ref":"https://remexec.invalid/schema/worker/local.json#/properties/max_inflight_tasks"},"timeout_handled_externally":{"$ref":"https://remexec.invalid/schema/worker/local.json#/properties/timeout_handled_externally"},"termination_grace_s":{"$ref":"https://remexec.invalid/schema/worker/local.json#/properties/termination_grace_s"},"timeout_message":{"$ref":"https://remexec.invalid/schema/worker/local.json#/properties/timeout_message"},"entrypoint":{"$ref":"https://remexec.invalid/schema/worker/local.json#/properties/entrypoint"},"experimental_precondition_script":{"$ref":"https://remexec.invalid/schema/worker/local.json#/properties/experimental_precondition_script"},"cas_fast_slow_store":{"$ref":"https://remexec.invalid/schema/worker/local.json#/properties/cas_fast_slow_store"},"upload_action_result":{"$ref":"https://remexec.invalid/schema/worker/local.json#/properties/upload_action_result"},"work_directory":{"$ref":"https://remexec.invalid/schema/worker/local.json#/properties/work_directory"},"platform_properties":{"$ref":"https://remexec.invalid/schema/worker/local.json#/properties/platform_properties"},"additional_environment":{"$ref":"https://remexec.invalid/schema/worker/local.json#/properties/additional_environment"},"default_path":{"$ref":"https://remexec.invalid/schema/worker/local.json#/properties/default_path"},"action_limits":{"$ref":"https://remexec.invalid/schema/worker/local.json#/properties/action_limits"},"directory_cache":{"$ref":"https://remexec.invalid/schema/worker/local.json#/properties/directory_cache"},"experimental_active_input_leases":{"$ref":"https://remexec.invalid/schema/worker/local.json#/properties/experimental_active_input_leases"},"control_groups":{"$ref":"https://remexec.invalid/schema/worker/local.json#/properties/control_groups"},"container_images":{"$ref":"https://remexec.invalid/schema/worker/local.json#/properties/container_images"},"persistent_workers":{"$ref":"https://remexec.invalid/schema/worker/local.json#/properties/persistent_workers"},"use_namespaces":{"$ref":"https://remexec.invalid/schema/worker/local.json#/properties/use_namespaces"},"keep_network":{"$ref":"https://remexec.invalid/schema/worker/local.json#/properties/keep_network"},"use_mount_namespace":{"$ref":"https://remexec.invalid/schema/worker/local.json#/properties/use_mount_namespace"},"read_only_inputs":{"$ref":"https://remexec.invalid/schema/worker/local.json#/properties/read_only_inputs"},"input_root_is_root":{"$ref":"https://remexec.invalid/schema/worker/local.json#/properties/input_root_is_root"}},"additionalProperties":false,"required":["scheduler_endpoint","cas_fast_slow_store","work_directory"]};
const schema73 = {"description":"Prefix of the worker id in logs and metrics. Left out: `worker_` and its index in the list.","type":"string","x-filled":true};

function validate167(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate167.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(typeof data !== "string"){
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema73.type,parentSchema:schema73,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
validate167.errors = vErrors;
return errors === 0;
}
validate167.evaluated = {"dynamicProps":false,"dynamicItems":false};


function validate169(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate169.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if((!(((typeof data == "number") && (!(data % 1) && !isNaN(data))) && (isFinite(data)))) && (typeof data !== "string")){
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: schema67.type},message:"must be integer,string",schema:schema67.type,parentSchema:schema67,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
const reason0 = checkScalar.call(this, "duration", data, schema67, instancePath);
if(reason0 !== undefined){
const err1 = {instancePath,schemaPath:"#/x-value",keyword:"x-value",params:{},message:reason0,schema:"duration",parentSchema:schema67,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate169.errors = vErrors;
return errors === 0;
}
validate169.evaluated = {"dynamicProps":false,"dynamicItems":false};


function validate171(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate171.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if((!(((typeof data == "number") && (!(data % 1) && !isNaN(data))) && (isFinite(data)))) && (typeof data !== "string")){
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: schema67.type},message:"must be integer,string",schema:schema67.type,parentSchema:schema67,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
const reason0 = checkScalar.call(this, "duration", data, schema67, instancePath);
if(reason0 !== undefined){
const err1 = {instancePath,schemaPath:"#/x-value",keyword:"x-value",params:{},message:reason0,schema:"duration",parentSchema:schema67,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate171.errors = vErrors;
return errors === 0;
}
validate171.evaluated = {"dynamicProps":false,"dynamicItems":false};


function validate173(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate173.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if((!(((typeof data == "number") && (!(data % 1) && !isNaN(data))) && (isFinite(data)))) && (typeof data !== "string")){
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: schema68.type},message:"must be integer,string",schema:schema68.type,parentSchema:schema68,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
const reason0 = checkScalar.call(this, "duration", data, schema68, instancePath);
if(reason0 !== undefined){
const err1 = {instancePath,schemaPath:"#/x-value",keyword:"x-value",params:{},message:reason0,schema:"duration",parentSchema:schema68,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate173.errors = vErrors;
return errors === 0;
}
validate173.evaluated = {"dynamicProps":false,"dynamicItems":false};


function validate175(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate175.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if((!(((typeof data == "number") && (!(data % 1) && !isNaN(data))) && (isFinite(data)))) && (typeof data !== "string")){
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: schema68.type},message:"must be integer,string",schema:schema68.type,parentSchema:schema68,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
const reason0 = checkScalar.call(this, "duration", data, schema68, instancePath);
if(reason0 !== undefined){
const err1 = {instancePath,schemaPath:"#/x-value",keyword:"x-value",params:{},message:reason0,schema:"duration",parentSchema:schema68,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate175.errors = vErrors;
return errors === 0;
}
validate175.evaluated = {"dynamicProps":false,"dynamicItems":false};

const schema78 = {"description":"Seconds to wait until an older directory of the same operation is removed.","type":["integer","string"],"x-ignored":"every run has a directory of its own","x-value":"duration"};

function validate177(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate177.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if((!(((typeof data == "number") && (!(data % 1) && !isNaN(data))) && (isFinite(data)))) && (typeof data !== "string")){
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: schema78.type},message:"must be integer,string",schema:schema78.type,parentSchema:schema78,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
const reason0 = checkScalar.call(this, "duration", data, schema78, instancePath);
if(reason0 !== undefined){
const err1 = {instancePath,schemaPath:"#/x-value",keyword:"x-value",params:{},message:reason0,schema:"duration",parentSchema:schema78,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate177.errors = vErrors;
return errors === 0;
}
validate177.evaluated = {"dynamicProps":false,"dynamicItems":false};

const schema79 = {"description":"Longest pause, in milliseconds, between two checks during that wait. An integer is milliseconds; text may use any unit.","type":["integer","string"],"x-ignored":"every run has a directory of its own","x-value":"duration_ms"};

function validate179(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate179.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if((!(((typeof data == "number") && (!(data % 1) && !isNaN(data))) && (isFinite(data)))) && (typeof data !== "string")){
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: schema79.type},message:"must be integer,string",schema:schema79.type,parentSchema:schema79,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
const reason0 = checkScalar.call(this, "duration_ms", data, schema79, instancePath);
if(reason0 !== undefined){
const err1 = {instancePath,schemaPath:"#/x-value",keyword:"x-value",params:{},message:reason0,schema:"duration_ms",parentSchema:schema79,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate179.errors = vErrors;
return errors === 0;
}
validate179.evaluated = {"dynamicProps":false,"dynamicItems":false};

const schema80 = {"description":"Most actions the worker runs at one time; `cores` means one for each core of this machine, 0 no limit.","type":["integer","string"],"x-value":"parallelism","minimum":0,"default":"cores"};

function validate181(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate181.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if((!(((typeof data == "number") && (!(data % 1) && !isNaN(data))) && (isFinite(data)))) && (typeof data !== "string")){
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: schema80.type},message:"must be integer,string",schema:schema80.type,parentSchema:schema80,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
const reason0 = checkScalar.call(this, "parallelism", data, schema80, instancePath);
if(reason0 !== undefined){
const err1 = {instancePath,schemaPath:"#/x-value",keyword:"x-value",params:{},message:reason0,schema:"parallelism",parentSchema:schema80,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if((typeof data == "number") && (isFinite(data))){
if(data < 0 || isNaN(data)){
const err2 = {instancePath,schemaPath:"#/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema80,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
validate181.errors = vErrors;
return errors === 0;
}
validate181.evaluated = {"dynamicProps":false,"dynamicItems":false};

const schema81 = {"description":"Leave the timeout of an action to its command or wrapper; the worker stops it at `max_action_timeout_s` only.","type":["boolean","string"],"x-value":"bool","default":false};

function validate183(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate183.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if((typeof data !== "boolean") && (typeof data !== "string")){
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: schema81.type},message:"must be boolean,string",schema:schema81.type,parentSchema:schema81,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
const reason0 = checkScalar.call(this, "bool", data, schema81, instancePath);
if(reason0 !== undefined){
const err1 = {instancePath,schemaPath:"#/x-value",keyword:"x-value",params:{},message:reason0,schema:"bool",parentSchema:schema81,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate183.errors = vErrors;
return errors === 0;
}
validate183.evaluated = {"dynamicProps":false,"dynamicItems":false};

const schema82 = {"description":"Seconds from SIGTERM to SIGKILL for the processes of an action that is ended: at its timeout, when nobody waits for it any more, or when the worker stops. It ends sooner when all of them have ended, and its slot is held until then. At a stop the grace is part of `drain_s`, and a quarter of it at most. 0: SIGKILL at once. An action that exceeds one of `action_limits` is always killed at once.","type":["integer","string"],"x-value":"duration","minimum":0,"default":15};

function validate185(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate185.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if((!(((typeof data == "number") && (!(data % 1) && !isNaN(data))) && (isFinite(data)))) && (typeof data !== "string")){
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: schema82.type},message:"must be integer,string",schema:schema82.type,parentSchema:schema82,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
const reason0 = checkScalar.call(this, "duration", data, schema82, instancePath);
if(reason0 !== undefined){
const err1 = {instancePath,schemaPath:"#/x-value",keyword:"x-value",params:{},message:reason0,schema:"duration",parentSchema:schema82,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if((typeof data == "number") && (isFinite(data))){
if(data < 0 || isNaN(data)){
const err2 = {instancePath,schemaPath:"#/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema82,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
validate185.errors = vErrors;
return errors === 0;
}
validate185.evaluated = {"dynamicProps":false,"dynamicItems":false};

const schema83 = {"description":"Message of an action that timed out. Siso treats exactly the default as final; Buck2 looks for `Execution timed out`.","type":"string","default":"execution timeout exceeded"};

function validate187(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate187.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(typeof data !== "string"){
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema83.type,parentSchema:schema83,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
validate187.errors = vErrors;
return errors === 0;
}
validate187.evaluated = {"dynamicProps":false,"dynamicItems":false};

const schema84 = {"description":"Command put before the command line of every action; split into words, no shell.","type":"string","default":""};

function validate189(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate189.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(typeof data !== "string"){
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema84.type,parentSchema:schema84,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
validate189.errors = vErrors;
return errors === 0;
}
validate189.evaluated = {"dynamicProps":false,"dynamicItems":false};

const schema85 = {"description":"Command run before every action, split into words without a shell. If it fails, the action goes back to the queue and the worker pauses.","type":"string"};

function validate191(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate191.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(typeof data !== "string"){
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema85.type,parentSchema:schema85,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
validate191.errors = vErrors;
return errors === 0;
}
validate191.evaluated = {"dynamicProps":false,"dynamicItems":false};

const schema86 = {"description":"The store of inputs and outputs: a `fast_slow` whose fast side is a `filesystem`, or a `dedup` whose `content_store` and `whole_store` are, because inputs are linked from there.","type":"string","x-names":"stores"};

function validate193(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate193.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(typeof data !== "string"){
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema86.type,parentSchema:schema86,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
validate193.errors = vErrors;
return errors === 0;
}
validate193.evaluated = {"dynamicProps":false,"dynamicItems":false};


function validate195(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/shared/upload_action_result.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate195.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!((((((key0 === "ac_store") || (key0 === "upload_ac_results_strategy")) || (key0 === "historical_results_store")) || (key0 === "upload_historical_results_strategy")) || (key0 === "success_message_template")) || (key0 === "failure_message_template"))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema69,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.ac_store !== undefined){
let data0 = data.ac_store;
if(typeof data0 !== "string"){
const err1 = {instancePath:instancePath+"/ac_store",schemaPath:"#/properties/ac_store/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema69.properties.ac_store.type,parentSchema:schema69.properties.ac_store,data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.upload_ac_results_strategy !== undefined){
let data1 = data.upload_ac_results_strategy;
if(typeof data1 !== "string"){
const err2 = {instancePath:instancePath+"/upload_ac_results_strategy",schemaPath:"#/properties/upload_ac_results_strategy/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema69.properties.upload_ac_results_strategy.type,parentSchema:schema69.properties.upload_ac_results_strategy,data:data1};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(!((((data1 === "success_only") || (data1 === "never")) || (data1 === "everything")) || (data1 === "failures_only"))){
const err3 = {instancePath:instancePath+"/upload_ac_results_strategy",schemaPath:"#/properties/upload_ac_results_strategy/enum",keyword:"enum",params:{allowedValues: schema69.properties.upload_ac_results_strategy.enum},message:"must be equal to one of the allowed values",schema:schema69.properties.upload_ac_results_strategy.enum,parentSchema:schema69.properties.upload_ac_results_strategy,data:data1};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.historical_results_store !== undefined){
let data2 = data.historical_results_store;
if(typeof data2 !== "string"){
const err4 = {instancePath:instancePath+"/historical_results_store",schemaPath:"#/properties/historical_results_store/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema69.properties.historical_results_store.type,parentSchema:schema69.properties.historical_results_store,data:data2};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.upload_historical_results_strategy !== undefined){
let data3 = data.upload_historical_results_strategy;
if(typeof data3 !== "string"){
const err5 = {instancePath:instancePath+"/upload_historical_results_strategy",schemaPath:"#/properties/upload_historical_results_strategy/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema69.properties.upload_historical_results_strategy.type,parentSchema:schema69.properties.upload_historical_results_strategy,data:data3};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if(!((((data3 === "success_only") || (data3 === "never")) || (data3 === "everything")) || (data3 === "failures_only"))){
const err6 = {instancePath:instancePath+"/upload_historical_results_strategy",schemaPath:"#/properties/upload_historical_results_strategy/enum",keyword:"enum",params:{allowedValues: schema69.properties.upload_historical_results_strategy.enum},message:"must be equal to one of the allowed values",schema:schema69.properties.upload_historical_results_strategy.enum,parentSchema:schema69.properties.upload_historical_results_strategy,data:data3};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data.success_message_template !== undefined){
let data4 = data.success_message_template;
if(typeof data4 !== "string"){
const err7 = {instancePath:instancePath+"/success_message_template",schemaPath:"#/properties/success_message_template/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema69.properties.success_message_template.type,parentSchema:schema69.properties.success_message_template,data:data4};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
if(data.failure_message_template !== undefined){
let data5 = data.failure_message_template;
if(typeof data5 !== "string"){
const err8 = {instancePath:instancePath+"/failure_message_template",schemaPath:"#/properties/failure_message_template/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema69.properties.failure_message_template.type,parentSchema:schema69.properties.failure_message_template,data:data5};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
}
else {
const err9 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema69.type,parentSchema:schema69,data};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
validate195.errors = vErrors;
return errors === 0;
}
validate195.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema88 = {"description":"Directory in which actions run, in one folder `remexec-...` per start of the worker. The worker removes the folders of earlier starts while it runs, and touches nothing else. Must be on the same file system as the fast store and belong to this worker alone.","type":"string","x-path":true};

function validate197(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate197.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(typeof data !== "string"){
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema88.type,parentSchema:schema88,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
validate197.errors = vErrors;
return errors === 0;
}
validate197.evaluated = {"dynamicProps":false,"dynamicItems":false};

const schema89 = {"description":"The platform properties of the worker, by name.","type":"object","additionalProperties":{"$ref":"https://remexec.invalid/schema/worker/local.json#/$defs/platform_property"},"default":{}};

function validate199(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate199.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!(validate161.call(this, data[key0], {instancePath:instancePath+"/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"),parentData:data,parentDataProperty:key0,rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate161.errors);
errors = vErrors.length;
}
}
}
else {
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema89.type,parentSchema:schema89,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
validate199.errors = vErrors;
return errors === 0;
}
validate199.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema90 = {"description":"Variables every command gets in addition to its own, and where each value comes from: `from_environment`, `timeout_millis`, `side_channel_file`, `action_directory`, `{property: NAME}` or `{value: TEXT}`.","type":"object","additionalProperties":{"$ref":"https://remexec.invalid/schema/worker/local.json#/$defs/environment_value"},"default":{}};

function validate202(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate202.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!(validate163.call(this, data[key0], {instancePath:instancePath+"/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"),parentData:data,parentDataProperty:key0,rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate163.errors);
errors = vErrors.length;
}
}
}
else {
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema90.type,parentSchema:schema90,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
validate202.errors = vErrors;
return errors === 0;
}
validate202.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema91 = {"description":"`PATH` of commands that set none and get none from `additional_environment`, also if they set other variables. Empty: none.","type":"string","default":"/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"};

function validate205(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate205.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(typeof data !== "string"){
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema91.type,parentSchema:schema91,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
validate205.errors = vErrors;
return errors === 0;
}
validate205.evaluated = {"dynamicProps":false,"dynamicItems":false};

const schema92 = {"title":"ActionLimits","description":"Limits on an action. An action that exceeds one is killed with all its processes, and its operation ends with RESOURCE_EXHAUSTED and the limit. Checked several times a second, so a fast action can exceed a limit briefly.","type":"object","properties":{"printed_bytes":{"description":"Most bytes of stdout, and as many of stderr; 0 means no limit.","type":["integer","string"],"x-value":"size","default":"256MiB"},"disk_bytes":{"description":"Most disk bytes of files that the action creates in its input root, and with `use_mount_namespace` in each of `/tmp`, `/var/tmp` and `/dev/shm`, which are in memory; 0 means no limit. The lengths of its outputs are limited too, because the store writes a sparse output in full.","type":["integer","string"],"x-value":"size","default":0},"processes":{"description":"Most processes at a time, and with `control_groups` their threads too; 0 means no limit.","type":["integer","string"],"x-value":"count","minimum":0,"default":4096},"memory_bytes":{"description":"Most resident bytes of its processes together; 0 means no limit. Shared memory counts for each process. With `control_groups` it counts once, with files in memory (`/tmp`, `/dev/shm`, memfd).","type":["integer","string"],"x-value":"size","default":0}},"additionalProperties":false,"default":{}};

function validate207(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate207.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!((((key0 === "printed_bytes") || (key0 === "disk_bytes")) || (key0 === "processes")) || (key0 === "memory_bytes"))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema92,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.printed_bytes !== undefined){
let data0 = data.printed_bytes;
if((!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))) && (typeof data0 !== "string")){
const err1 = {instancePath:instancePath+"/printed_bytes",schemaPath:"#/properties/printed_bytes/type",keyword:"type",params:{type: schema92.properties.printed_bytes.type},message:"must be integer,string",schema:schema92.properties.printed_bytes.type,parentSchema:schema92.properties.printed_bytes,data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
const reason0 = checkScalar.call(this, "size", data0, schema92.properties.printed_bytes, instancePath+"/printed_bytes");
if(reason0 !== undefined){
const err2 = {instancePath:instancePath+"/printed_bytes",schemaPath:"#/properties/printed_bytes/x-value",keyword:"x-value",params:{},message:reason0,schema:"size",parentSchema:schema92.properties.printed_bytes,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.disk_bytes !== undefined){
let data1 = data.disk_bytes;
if((!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))) && (typeof data1 !== "string")){
const err3 = {instancePath:instancePath+"/disk_bytes",schemaPath:"#/properties/disk_bytes/type",keyword:"type",params:{type: schema92.properties.disk_bytes.type},message:"must be integer,string",schema:schema92.properties.disk_bytes.type,parentSchema:schema92.properties.disk_bytes,data:data1};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
const reason1 = checkScalar.call(this, "size", data1, schema92.properties.disk_bytes, instancePath+"/disk_bytes");
if(reason1 !== undefined){
const err4 = {instancePath:instancePath+"/disk_bytes",schemaPath:"#/properties/disk_bytes/x-value",keyword:"x-value",params:{},message:reason1,schema:"size",parentSchema:schema92.properties.disk_bytes,data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.processes !== undefined){
let data2 = data.processes;
if((!(((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2))) && (isFinite(data2)))) && (typeof data2 !== "string")){
const err5 = {instancePath:instancePath+"/processes",schemaPath:"#/properties/processes/type",keyword:"type",params:{type: schema92.properties.processes.type},message:"must be integer,string",schema:schema92.properties.processes.type,parentSchema:schema92.properties.processes,data:data2};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
const reason2 = checkScalar.call(this, "count", data2, schema92.properties.processes, instancePath+"/processes");
if(reason2 !== undefined){
const err6 = {instancePath:instancePath+"/processes",schemaPath:"#/properties/processes/x-value",keyword:"x-value",params:{},message:reason2,schema:"count",parentSchema:schema92.properties.processes,data:data2};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if((typeof data2 == "number") && (isFinite(data2))){
if(data2 < 0 || isNaN(data2)){
const err7 = {instancePath:instancePath+"/processes",schemaPath:"#/properties/processes/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema92.properties.processes,data:data2};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
}
if(data.memory_bytes !== undefined){
let data3 = data.memory_bytes;
if((!(((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3))) && (isFinite(data3)))) && (typeof data3 !== "string")){
const err8 = {instancePath:instancePath+"/memory_bytes",schemaPath:"#/properties/memory_bytes/type",keyword:"type",params:{type: schema92.properties.memory_bytes.type},message:"must be integer,string",schema:schema92.properties.memory_bytes.type,parentSchema:schema92.properties.memory_bytes,data:data3};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
const reason3 = checkScalar.call(this, "size", data3, schema92.properties.memory_bytes, instancePath+"/memory_bytes");
if(reason3 !== undefined){
const err9 = {instancePath:instancePath+"/memory_bytes",schemaPath:"#/properties/memory_bytes/x-value",keyword:"x-value",params:{},message:reason3,schema:"size",parentSchema:schema92.properties.memory_bytes,data:data3};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
}
else {
const err10 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema92.type,parentSchema:schema92,data};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
validate207.errors = vErrors;
return errors === 0;
}
validate207.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema93 = {"title":"DirectoryCache","description":"Keep whole input roots between actions. An action whose root is kept gets it at once, whatever its size. Otherwise the kept root that has the most in common with it is changed, so the action waits only for the files that differ. After each action the worker removes added files and compares every file by inode, size, times and modes. A root that changed is not kept, nor one whose command may have left a process behind. Excludes `experimental_precondition_script` and variables for a side channel or the action directory. Needs Linux, and koffi or `use_namespaces`.","type":"object","properties":{"max_entries":{"description":"Most input roots kept; the most recently used stay.","type":["integer","string"],"x-value":"count","minimum":0,"default":1000},"max_size_bytes":{"description":"Most bytes in the files of the kept roots, which are links to the store if possible; 0 means no limit.","type":["integer","string"],"x-value":"size","default":"10GiB"},"max_age_s":{"description":"Seconds after which a root that no action used is removed.","type":["integer","string"],"x-value":"duration","default":86400,"x-zero-is-default":true},"cache_root":{"description":"Where they are kept.","type":"string","x-path":true,"x-ignored":"they stay where they are, in the work directory"},"experimental_subtree_caching":{"description":"Keep subdirectories too.","type":["boolean","string"],"x-value":"bool","x-ignored":"roots that have subtrees in common are changed into each other, which is always done"},"max_concurrent_fetches":{"description":"Fetches at one time.","type":["integer","string"],"x-value":"count","minimum":1,"x-ignored":"small inputs are fetched 256 at a time, others 16"},"experimental_get_tree_prefetch":{"description":"Fetch the tree in one call.","type":["boolean","string"],"x-value":"bool","x-ignored":"trees of a far server are fetched by GetTree, which is always done"}},"additionalProperties":false};

function validate209(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate209.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!(((((((key0 === "max_entries") || (key0 === "max_size_bytes")) || (key0 === "max_age_s")) || (key0 === "cache_root")) || (key0 === "experimental_subtree_caching")) || (key0 === "max_concurrent_fetches")) || (key0 === "experimental_get_tree_prefetch"))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema93,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.max_entries !== undefined){
let data0 = data.max_entries;
if((!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))) && (typeof data0 !== "string")){
const err1 = {instancePath:instancePath+"/max_entries",schemaPath:"#/properties/max_entries/type",keyword:"type",params:{type: schema93.properties.max_entries.type},message:"must be integer,string",schema:schema93.properties.max_entries.type,parentSchema:schema93.properties.max_entries,data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
const reason0 = checkScalar.call(this, "count", data0, schema93.properties.max_entries, instancePath+"/max_entries");
if(reason0 !== undefined){
const err2 = {instancePath:instancePath+"/max_entries",schemaPath:"#/properties/max_entries/x-value",keyword:"x-value",params:{},message:reason0,schema:"count",parentSchema:schema93.properties.max_entries,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 < 0 || isNaN(data0)){
const err3 = {instancePath:instancePath+"/max_entries",schemaPath:"#/properties/max_entries/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema93.properties.max_entries,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
}
if(data.max_size_bytes !== undefined){
let data1 = data.max_size_bytes;
if((!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))) && (typeof data1 !== "string")){
const err4 = {instancePath:instancePath+"/max_size_bytes",schemaPath:"#/properties/max_size_bytes/type",keyword:"type",params:{type: schema93.properties.max_size_bytes.type},message:"must be integer,string",schema:schema93.properties.max_size_bytes.type,parentSchema:schema93.properties.max_size_bytes,data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
const reason1 = checkScalar.call(this, "size", data1, schema93.properties.max_size_bytes, instancePath+"/max_size_bytes");
if(reason1 !== undefined){
const err5 = {instancePath:instancePath+"/max_size_bytes",schemaPath:"#/properties/max_size_bytes/x-value",keyword:"x-value",params:{},message:reason1,schema:"size",parentSchema:schema93.properties.max_size_bytes,data:data1};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data.max_age_s !== undefined){
let data2 = data.max_age_s;
if((!(((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2))) && (isFinite(data2)))) && (typeof data2 !== "string")){
const err6 = {instancePath:instancePath+"/max_age_s",schemaPath:"#/properties/max_age_s/type",keyword:"type",params:{type: schema93.properties.max_age_s.type},message:"must be integer,string",schema:schema93.properties.max_age_s.type,parentSchema:schema93.properties.max_age_s,data:data2};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
const reason2 = checkScalar.call(this, "duration", data2, schema93.properties.max_age_s, instancePath+"/max_age_s");
if(reason2 !== undefined){
const err7 = {instancePath:instancePath+"/max_age_s",schemaPath:"#/properties/max_age_s/x-value",keyword:"x-value",params:{},message:reason2,schema:"duration",parentSchema:schema93.properties.max_age_s,data:data2};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
if(data.cache_root !== undefined){
let data3 = data.cache_root;
if(typeof data3 !== "string"){
const err8 = {instancePath:instancePath+"/cache_root",schemaPath:"#/properties/cache_root/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema93.properties.cache_root.type,parentSchema:schema93.properties.cache_root,data:data3};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
if(data.experimental_subtree_caching !== undefined){
let data4 = data.experimental_subtree_caching;
if((typeof data4 !== "boolean") && (typeof data4 !== "string")){
const err9 = {instancePath:instancePath+"/experimental_subtree_caching",schemaPath:"#/properties/experimental_subtree_caching/type",keyword:"type",params:{type: schema93.properties.experimental_subtree_caching.type},message:"must be boolean,string",schema:schema93.properties.experimental_subtree_caching.type,parentSchema:schema93.properties.experimental_subtree_caching,data:data4};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
const reason3 = checkScalar.call(this, "bool", data4, schema93.properties.experimental_subtree_caching, instancePath+"/experimental_subtree_caching");
if(reason3 !== undefined){
const err10 = {instancePath:instancePath+"/experimental_subtree_caching",schemaPath:"#/properties/experimental_subtree_caching/x-value",keyword:"x-value",params:{},message:reason3,schema:"bool",parentSchema:schema93.properties.experimental_subtree_caching,data:data4};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
if(data.max_concurrent_fetches !== undefined){
let data5 = data.max_concurrent_fetches;
if((!(((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5))) && (isFinite(data5)))) && (typeof data5 !== "string")){
const err11 = {instancePath:instancePath+"/max_concurrent_fetches",schemaPath:"#/properties/max_concurrent_fetches/type",keyword:"type",params:{type: schema93.properties.max_concurrent_fetches.type},message:"must be integer,string",schema:schema93.properties.max_concurrent_fetches.type,parentSchema:schema93.properties.max_concurrent_fetches,data:data5};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
const reason4 = checkScalar.call(this, "count", data5, schema93.properties.max_concurrent_fetches, instancePath+"/max_concurrent_fetches");
if(reason4 !== undefined){
const err12 = {instancePath:instancePath+"/max_concurrent_fetches",schemaPath:"#/properties/max_concurrent_fetches/x-value",keyword:"x-value",params:{},message:reason4,schema:"count",parentSchema:schema93.properties.max_concurrent_fetches,data:data5};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
if((typeof data5 == "number") && (isFinite(data5))){
if(data5 < 1 || isNaN(data5)){
const err13 = {instancePath:instancePath+"/max_concurrent_fetches",schemaPath:"#/properties/max_concurrent_fetches/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema93.properties.max_concurrent_fetches,data:data5};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
}
}
if(data.experimental_get_tree_prefetch !== undefined){
let data6 = data.experimental_get_tree_prefetch;
if((typeof data6 !== "boolean") && (typeof data6 !== "string")){
const err14 = {instancePath:instancePath+"/experimental_get_tree_prefetch",schemaPath:"#/properties/experimental_get_tree_prefetch/type",keyword:"type",params:{type: schema93.properties.experimental_get_tree_prefetch.type},message:"must be boolean,string",schema:schema93.properties.experimental_get_tree_prefetch.type,parentSchema:schema93.properties.experimental_get_tree_prefetch,data:data6};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
const reason5 = checkScalar.call(this, "bool", data6, schema93.properties.experimental_get_tree_prefetch, instancePath+"/experimental_get_tree_prefetch");
if(reason5 !== undefined){
const err15 = {instancePath:instancePath+"/experimental_get_tree_prefetch",schemaPath:"#/properties/experimental_get_tree_prefetch/x-value",keyword:"x-value",params:{},message:reason5,schema:"bool",parentSchema:schema93.properties.experimental_get_tree_prefetch,data:data6};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
}
else {
const err16 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema93.type,parentSchema:schema93,data};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
validate209.errors = vErrors;
return errors === 0;
}
validate209.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema94 = {"description":"Keep all inputs of a running action from being evicted, which is always done.","type":["boolean","string"],"x-value":"bool","default":false,"x-ignored":true,"x-always-so":true};

function validate211(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate211.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if((typeof data !== "boolean") && (typeof data !== "string")){
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: schema94.type},message:"must be boolean,string",schema:schema94.type,parentSchema:schema94,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
const reason0 = checkScalar.call(this, "bool", data, schema94, instancePath);
if(reason0 !== undefined){
const err1 = {instancePath,schemaPath:"#/x-value",keyword:"x-value",params:{},message:reason0,schema:"bool",parentSchema:schema94,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate211.errors = vErrors;
return errors === 0;
}
validate211.evaluated = {"dynamicProps":false,"dynamicItems":false};

const schema95 = {"title":"ControlGroups","description":"Give each action a control group (version 2) of Linux: the kernel then holds `processes` and `memory_bytes` of `action_limits` and the memory that an action asks for, shares the processors by what actions ask for, and ends all that an action started at once. An action that is ended for its memory is told its limit and its peak. Without groups the worker follows processes in /proc. A command that is not confined by `use_mount_namespace` could leave its group.","type":"object","properties":{"use":{"description":"`if_delegated`: where this process has a group to itself, such as by `Delegate=yes` of a systemd unit, as in those that come with remexec. `always`: the worker does not start without. `never`: processes are followed.","type":"string","enum":["if_delegated","always","never"],"default":"if_delegated"},"directory":{"description":"The group in which those of actions are made, below /sys/fs/cgroup. It has to exist, to have the controllers `memory` and `pids`, and to belong to this user. Left out: the group of the process.","type":"string","x-path":true},"memory_property":{"description":"Property by which actions ask for memory in KiB. Their processes together get no more than they ask for. Empty: no limit but `memory_bytes` of `action_limits`.","type":"string","default":"memory_kb"},"cpu_property":{"description":"Property by which actions ask for processors. Those that ask for more get as much more time while processors are contended; without contention there is no limit. Empty: all have the same share.","type":"string","default":"cpu_count"}},"additionalProperties":false,"default":{}};

function validate213(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate213.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!((((key0 === "use") || (key0 === "directory")) || (key0 === "memory_property")) || (key0 === "cpu_property"))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema95,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.use !== undefined){
let data0 = data.use;
if(typeof data0 !== "string"){
const err1 = {instancePath:instancePath+"/use",schemaPath:"#/properties/use/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema95.properties.use.type,parentSchema:schema95.properties.use,data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(!(((data0 === "if_delegated") || (data0 === "always")) || (data0 === "never"))){
const err2 = {instancePath:instancePath+"/use",schemaPath:"#/properties/use/enum",keyword:"enum",params:{allowedValues: schema95.properties.use.enum},message:"must be equal to one of the allowed values",schema:schema95.properties.use.enum,parentSchema:schema95.properties.use,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.directory !== undefined){
let data1 = data.directory;
if(typeof data1 !== "string"){
const err3 = {instancePath:instancePath+"/directory",schemaPath:"#/properties/directory/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema95.properties.directory.type,parentSchema:schema95.properties.directory,data:data1};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.memory_property !== undefined){
let data2 = data.memory_property;
if(typeof data2 !== "string"){
const err4 = {instancePath:instancePath+"/memory_property",schemaPath:"#/properties/memory_property/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema95.properties.memory_property.type,parentSchema:schema95.properties.memory_property,data:data2};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.cpu_property !== undefined){
let data3 = data.cpu_property;
if(typeof data3 !== "string"){
const err5 = {instancePath:instancePath+"/cpu_property",schemaPath:"#/properties/cpu_property/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema95.properties.cpu_property.type,parentSchema:schema95.properties.cpu_property,data:data3};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
}
else {
const err6 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema95.type,parentSchema:schema95,data};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
validate213.errors = vErrors;
return errors === 0;
}
validate213.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema96 = {"title":"ContainerImages","description":"Run actions in the image that they name by the property `container-image` or `docker-image`: `docker://HOST/NAME@sha256:…`, or with a tag. Images are fetched by `skopeo` and unpacked by `umoci`, which must be in PATH, and kept. The command sees the image read-only, its directory at `/remexec`, and private `/tmp`, `/var/tmp`, `/dev` and `/proc`; variables of the image are below its own. Actions that name no image run on the worker's own system. Needs `use_mount_namespace`; excludes `entrypoint` and `input_root_is_root`. `{}` switches it on.","type":"object","properties":{"directory":{"description":"Where unpacked images are kept; belongs to this worker alone. Left out: `images` in the work directory.","type":"string","x-path":true},"max_bytes":{"description":"Most disk bytes of the images that are kept. The least recently used are removed first, never one in use. An image that is being unpacked comes on top.","type":["integer","string"],"x-value":"size","default":"50GiB"},"max_age_s":{"description":"Seconds after which an image that no action used is removed.","type":["integer","string"],"x-value":"duration","default":604800,"x-zero-is-default":true},"max_image_bytes":{"description":"Most bytes of one image, both compressed and unpacked. Actions that name a larger one are refused.","type":["integer","string"],"x-value":"size","default":"20GiB"},"max_image_files":{"description":"Most files and directories of one image.","type":["integer","string"],"x-value":"count","minimum":1,"default":1000000},"pull_timeout_s":{"description":"Seconds that fetching an image may take, and as many for unpacking it.","type":["integer","string"],"x-value":"duration","default":1800,"x-zero-is-default":true},"tag_age_s":{"description":"Seconds for which a tag stands for the digest that it had when it was looked up.","type":["integer","string"],"x-value":"duration","default":300,"x-zero-is-default":true},"registries":{"description":"Registries to fetch from: `ghcr.io`, `ghcr.io/acme` for what is below that path, `http://10.0.0.5:5000` for one without TLS. Names without a host are of `docker.io`. Empty: every registry with a public address.","type":"array","items":{"type":"string"},"default":[]},"allow_addresses":{"description":"Addresses and networks besides public ones, for registries that are not listed: `10.0.0.0/8`. Without it, a client could use the worker to reach services that trust it.","type":"array","items":{"type":"string"},"default":[]},"prefetch":{"description":"Images that are fetched when the worker starts and looked after every ten minutes, before an action names them. They have no right to stay: `max_bytes` and `max_age_s` hold for them too.","type":"array","items":{"type":"string"},"default":[]},"auth_file":{"description":"Credentials of registries, in the form that `skopeo login --authfile` writes. Everybody whose actions run here can use the images that they open. Left out: registries are asked without an account.","type":"string","x-path":true}},"additionalProperties":false};

function validate215(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate215.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!(func1.call(schema96.properties, key0))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema96,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.directory !== undefined){
let data0 = data.directory;
if(typeof data0 !== "string"){
const err1 = {instancePath:instancePath+"/directory",schemaPath:"#/properties/directory/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema96.properties.directory.type,parentSchema:schema96.properties.directory,data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.max_bytes !== undefined){
let data1 = data.max_bytes;
if((!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))) && (typeof data1 !== "string")){
const err2 = {instancePath:instancePath+"/max_bytes",schemaPath:"#/properties/max_bytes/type",keyword:"type",params:{type: schema96.properties.max_bytes.type},message:"must be integer,string",schema:schema96.properties.max_bytes.type,parentSchema:schema96.properties.max_bytes,data:data1};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
const reason0 = checkScalar.call(this, "size", data1, schema96.properties.max_bytes, instancePath+"/max_bytes");
if(reason0 !== undefined){
const err3 = {instancePath:instancePath+"/max_bytes",schemaPath:"#/properties/max_bytes/x-value",keyword:"x-value",params:{},message:reason0,schema:"size",parentSchema:schema96.properties.max_bytes,data:data1};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.max_age_s !== undefined){
let data2 = data.max_age_s;
if((!(((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2))) && (isFinite(data2)))) && (typeof data2 !== "string")){
const err4 = {instancePath:instancePath+"/max_age_s",schemaPath:"#/properties/max_age_s/type",keyword:"type",params:{type: schema96.properties.max_age_s.type},message:"must be integer,string",schema:schema96.properties.max_age_s.type,parentSchema:schema96.properties.max_age_s,data:data2};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
const reason1 = checkScalar.call(this, "duration", data2, schema96.properties.max_age_s, instancePath+"/max_age_s");
if(reason1 !== undefined){
const err5 = {instancePath:instancePath+"/max_age_s",schemaPath:"#/properties/max_age_s/x-value",keyword:"x-value",params:{},message:reason1,schema:"duration",parentSchema:schema96.properties.max_age_s,data:data2};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data.max_image_bytes !== undefined){
let data3 = data.max_image_bytes;
if((!(((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3))) && (isFinite(data3)))) && (typeof data3 !== "string")){
const err6 = {instancePath:instancePath+"/max_image_bytes",schemaPath:"#/properties/max_image_bytes/type",keyword:"type",params:{type: schema96.properties.max_image_bytes.type},message:"must be integer,string",schema:schema96.properties.max_image_bytes.type,parentSchema:schema96.properties.max_image_bytes,data:data3};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
const reason2 = checkScalar.call(this, "size", data3, schema96.properties.max_image_bytes, instancePath+"/max_image_bytes");
if(reason2 !== undefined){
const err7 = {instancePath:instancePath+"/max_image_bytes",schemaPath:"#/properties/max_image_bytes/x-value",keyword:"x-value",params:{},message:reason2,schema:"size",parentSchema:schema96.properties.max_image_bytes,data:data3};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
if(data.max_image_files !== undefined){
let data4 = data.max_image_files;
if((!(((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4))) && (isFinite(data4)))) && (typeof data4 !== "string")){
const err8 = {instancePath:instancePath+"/max_image_files",schemaPath:"#/properties/max_image_files/type",keyword:"type",params:{type: schema96.properties.max_image_files.type},message:"must be integer,string",schema:schema96.properties.max_image_files.type,parentSchema:schema96.properties.max_image_files,data:data4};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
const reason3 = checkScalar.call(this, "count", data4, schema96.properties.max_image_files, instancePath+"/max_image_files");
if(reason3 !== undefined){
const err9 = {instancePath:instancePath+"/max_image_files",schemaPath:"#/properties/max_image_files/x-value",keyword:"x-value",params:{},message:reason3,schema:"count",parentSchema:schema96.properties.max_image_files,data:data4};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
if((typeof data4 == "number") && (isFinite(data4))){
if(data4 < 1 || isNaN(data4)){
const err10 = {instancePath:instancePath+"/max_image_files",schemaPath:"#/properties/max_image_files/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema96.properties.max_image_files,data:data4};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
}
if(data.pull_timeout_s !== undefined){
let data5 = data.pull_timeout_s;
if((!(((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5))) && (isFinite(data5)))) && (typeof data5 !== "string")){
const err11 = {instancePath:instancePath+"/pull_timeout_s",schemaPath:"#/properties/pull_timeout_s/type",keyword:"type",params:{type: schema96.properties.pull_timeout_s.type},message:"must be integer,string",schema:schema96.properties.pull_timeout_s.type,parentSchema:schema96.properties.pull_timeout_s,data:data5};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
const reason4 = checkScalar.call(this, "duration", data5, schema96.properties.pull_timeout_s, instancePath+"/pull_timeout_s");
if(reason4 !== undefined){
const err12 = {instancePath:instancePath+"/pull_timeout_s",schemaPath:"#/properties/pull_timeout_s/x-value",keyword:"x-value",params:{},message:reason4,schema:"duration",parentSchema:schema96.properties.pull_timeout_s,data:data5};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
if(data.tag_age_s !== undefined){
let data6 = data.tag_age_s;
if((!(((typeof data6 == "number") && (!(data6 % 1) && !isNaN(data6))) && (isFinite(data6)))) && (typeof data6 !== "string")){
const err13 = {instancePath:instancePath+"/tag_age_s",schemaPath:"#/properties/tag_age_s/type",keyword:"type",params:{type: schema96.properties.tag_age_s.type},message:"must be integer,string",schema:schema96.properties.tag_age_s.type,parentSchema:schema96.properties.tag_age_s,data:data6};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
const reason5 = checkScalar.call(this, "duration", data6, schema96.properties.tag_age_s, instancePath+"/tag_age_s");
if(reason5 !== undefined){
const err14 = {instancePath:instancePath+"/tag_age_s",schemaPath:"#/properties/tag_age_s/x-value",keyword:"x-value",params:{},message:reason5,schema:"duration",parentSchema:schema96.properties.tag_age_s,data:data6};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
if(data.registries !== undefined){
let data7 = data.registries;
if(Array.isArray(data7)){
const len0 = data7.length;
for(let i0=0; i0<len0; i0++){
let data8 = data7[i0];
if(typeof data8 !== "string"){
const err15 = {instancePath:instancePath+"/registries/" + i0,schemaPath:"#/properties/registries/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema96.properties.registries.items.type,parentSchema:schema96.properties.registries.items,data:data8};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
}
else {
const err16 = {instancePath:instancePath+"/registries",schemaPath:"#/properties/registries/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema96.properties.registries.type,parentSchema:schema96.properties.registries,data:data7};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
}
if(data.allow_addresses !== undefined){
let data9 = data.allow_addresses;
if(Array.isArray(data9)){
const len1 = data9.length;
for(let i1=0; i1<len1; i1++){
let data10 = data9[i1];
if(typeof data10 !== "string"){
const err17 = {instancePath:instancePath+"/allow_addresses/" + i1,schemaPath:"#/properties/allow_addresses/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema96.properties.allow_addresses.items.type,parentSchema:schema96.properties.allow_addresses.items,data:data10};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
}
}
else {
const err18 = {instancePath:instancePath+"/allow_addresses",schemaPath:"#/properties/allow_addresses/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema96.properties.allow_addresses.type,parentSchema:schema96.properties.allow_addresses,data:data9};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
}
if(data.prefetch !== undefined){
let data11 = data.prefetch;
if(Array.isArray(data11)){
const len2 = data11.length;
for(let i2=0; i2<len2; i2++){
let data12 = data11[i2];
if(typeof data12 !== "string"){
const err19 = {instancePath:instancePath+"/prefetch/" + i2,schemaPath:"#/properties/prefetch/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema96.properties.prefetch.items.type,parentSchema:schema96.properties.prefetch.items,data:data12};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
}
}
else {
const err20 = {instancePath:instancePath+"/prefetch",schemaPath:"#/properties/prefetch/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema96.properties.prefetch.type,parentSchema:schema96.properties.prefetch,data:data11};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
}
if(data.auth_file !== undefined){
let data13 = data.auth_file;
if(typeof data13 !== "string"){
const err21 = {instancePath:instancePath+"/auth_file",schemaPath:"#/properties/auth_file/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema96.properties.auth_file.type,parentSchema:schema96.properties.auth_file,data:data13};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
}
}
else {
const err22 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema96.type,parentSchema:schema96,data};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
validate215.errors = vErrors;
return errors === 0;
}
validate215.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema97 = {"title":"PersistentWorkers","description":"Tools that stay up between actions, as Bazel's persistent workers: an action that asks for one by the property `persistentWorkerKey` (`--experimental_remote_mark_tool_inputs`) becomes a request to a process that is already warm. A process serves one instance, scope, tool, environment and startup line. If it fails, its command runs as it stands. Actions without the property are not concerned. Needs Linux and koffi; has no effect beside `input_root_is_root`, `experimental_precondition_script` and variables for a side channel or the action directory.","type":"object","properties":{"enabled":{"description":"`false`: every command has a process of its own.","type":["boolean","string"],"x-value":"bool","default":true},"max_processes":{"description":"Most processes, with those that have a request. Beyond it the least recently used one ends, or the command runs as it stands. 0: twice `max_inflight_tasks`, and at least 8.","type":["integer","string"],"x-value":"count","minimum":0,"default":0},"max_idle_s":{"description":"Seconds after which a process without a request ends.","type":["integer","string"],"x-value":"duration","default":600,"x-zero-is-default":true},"max_requests":{"description":"Requests after which a process ends, because tools leak memory; 0 means no limit.","type":["integer","string"],"x-value":"count","minimum":0,"default":500},"max_memory_bytes":{"description":"Most resident bytes of all of them together. Beyond it the largest one without a request ends first. 0: a quarter of the memory of the machine, or of its container.","type":["integer","string"],"x-value":"size","default":0}},"additionalProperties":false,"default":{}};

function validate217(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate217.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!(((((key0 === "enabled") || (key0 === "max_processes")) || (key0 === "max_idle_s")) || (key0 === "max_requests")) || (key0 === "max_memory_bytes"))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema97,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.enabled !== undefined){
let data0 = data.enabled;
if((typeof data0 !== "boolean") && (typeof data0 !== "string")){
const err1 = {instancePath:instancePath+"/enabled",schemaPath:"#/properties/enabled/type",keyword:"type",params:{type: schema97.properties.enabled.type},message:"must be boolean,string",schema:schema97.properties.enabled.type,parentSchema:schema97.properties.enabled,data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
const reason0 = checkScalar.call(this, "bool", data0, schema97.properties.enabled, instancePath+"/enabled");
if(reason0 !== undefined){
const err2 = {instancePath:instancePath+"/enabled",schemaPath:"#/properties/enabled/x-value",keyword:"x-value",params:{},message:reason0,schema:"bool",parentSchema:schema97.properties.enabled,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.max_processes !== undefined){
let data1 = data.max_processes;
if((!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))) && (typeof data1 !== "string")){
const err3 = {instancePath:instancePath+"/max_processes",schemaPath:"#/properties/max_processes/type",keyword:"type",params:{type: schema97.properties.max_processes.type},message:"must be integer,string",schema:schema97.properties.max_processes.type,parentSchema:schema97.properties.max_processes,data:data1};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
const reason1 = checkScalar.call(this, "count", data1, schema97.properties.max_processes, instancePath+"/max_processes");
if(reason1 !== undefined){
const err4 = {instancePath:instancePath+"/max_processes",schemaPath:"#/properties/max_processes/x-value",keyword:"x-value",params:{},message:reason1,schema:"count",parentSchema:schema97.properties.max_processes,data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
if((typeof data1 == "number") && (isFinite(data1))){
if(data1 < 0 || isNaN(data1)){
const err5 = {instancePath:instancePath+"/max_processes",schemaPath:"#/properties/max_processes/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema97.properties.max_processes,data:data1};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
}
if(data.max_idle_s !== undefined){
let data2 = data.max_idle_s;
if((!(((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2))) && (isFinite(data2)))) && (typeof data2 !== "string")){
const err6 = {instancePath:instancePath+"/max_idle_s",schemaPath:"#/properties/max_idle_s/type",keyword:"type",params:{type: schema97.properties.max_idle_s.type},message:"must be integer,string",schema:schema97.properties.max_idle_s.type,parentSchema:schema97.properties.max_idle_s,data:data2};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
const reason2 = checkScalar.call(this, "duration", data2, schema97.properties.max_idle_s, instancePath+"/max_idle_s");
if(reason2 !== undefined){
const err7 = {instancePath:instancePath+"/max_idle_s",schemaPath:"#/properties/max_idle_s/x-value",keyword:"x-value",params:{},message:reason2,schema:"duration",parentSchema:schema97.properties.max_idle_s,data:data2};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
if(data.max_requests !== undefined){
let data3 = data.max_requests;
if((!(((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3))) && (isFinite(data3)))) && (typeof data3 !== "string")){
const err8 = {instancePath:instancePath+"/max_requests",schemaPath:"#/properties/max_requests/type",keyword:"type",params:{type: schema97.properties.max_requests.type},message:"must be integer,string",schema:schema97.properties.max_requests.type,parentSchema:schema97.properties.max_requests,data:data3};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
const reason3 = checkScalar.call(this, "count", data3, schema97.properties.max_requests, instancePath+"/max_requests");
if(reason3 !== undefined){
const err9 = {instancePath:instancePath+"/max_requests",schemaPath:"#/properties/max_requests/x-value",keyword:"x-value",params:{},message:reason3,schema:"count",parentSchema:schema97.properties.max_requests,data:data3};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
if((typeof data3 == "number") && (isFinite(data3))){
if(data3 < 0 || isNaN(data3)){
const err10 = {instancePath:instancePath+"/max_requests",schemaPath:"#/properties/max_requests/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema97.properties.max_requests,data:data3};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
}
if(data.max_memory_bytes !== undefined){
let data4 = data.max_memory_bytes;
if((!(((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4))) && (isFinite(data4)))) && (typeof data4 !== "string")){
const err11 = {instancePath:instancePath+"/max_memory_bytes",schemaPath:"#/properties/max_memory_bytes/type",keyword:"type",params:{type: schema97.properties.max_memory_bytes.type},message:"must be integer,string",schema:schema97.properties.max_memory_bytes.type,parentSchema:schema97.properties.max_memory_bytes,data:data4};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
const reason4 = checkScalar.call(this, "size", data4, schema97.properties.max_memory_bytes, instancePath+"/max_memory_bytes");
if(reason4 !== undefined){
const err12 = {instancePath:instancePath+"/max_memory_bytes",schemaPath:"#/properties/max_memory_bytes/x-value",keyword:"x-value",params:{},message:reason4,schema:"size",parentSchema:schema97.properties.max_memory_bytes,data:data4};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
}
else {
const err13 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema97.type,parentSchema:schema97,data};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
validate217.errors = vErrors;
return errors === 0;
}
validate217.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema98 = {"description":"Run each action by bubblewrap (`bwrap`) in its own Linux user, process, IPC, host name and network namespaces, without root rights. It sees no process of the machine and has no network, and all its processes end with it. The worker does not start if this is impossible.","type":["boolean","string"],"x-value":"bool","default":false};

function validate219(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate219.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if((typeof data !== "boolean") && (typeof data !== "string")){
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: schema98.type},message:"must be boolean,string",schema:schema98.type,parentSchema:schema98,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
const reason0 = checkScalar.call(this, "bool", data, schema98, instancePath);
if(reason0 !== undefined){
const err1 = {instancePath,schemaPath:"#/x-value",keyword:"x-value",params:{},message:reason0,schema:"bool",parentSchema:schema98,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate219.errors = vErrors;
return errors === 0;
}
validate219.evaluated = {"dynamicProps":false,"dynamicItems":false};

const schema99 = {"description":"Give actions the network of the machine; without `use_namespaces` they have it anyway.","type":["boolean","string"],"x-value":"bool","default":false};

function validate221(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate221.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if((typeof data !== "boolean") && (typeof data !== "string")){
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: schema99.type},message:"must be boolean,string",schema:schema99.type,parentSchema:schema99,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
const reason0 = checkScalar.call(this, "bool", data, schema99, instancePath);
if(reason0 !== undefined){
const err1 = {instancePath,schemaPath:"#/x-value",keyword:"x-value",params:{},message:reason0,schema:"bool",parentSchema:schema99,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate221.errors = vErrors;
return errors === 0;
}
validate221.evaluated = {"dynamicProps":false,"dynamicItems":false};

const schema100 = {"description":"Give each action its own mount namespace; needs `use_namespaces`. The machine is read-only except the directory of the action; `/tmp` and `/var/tmp` are private and empty. The action sees no other action, no path that this configuration names (its own file, folders of stores, keys, lists of tokens), and no Unix socket of the machine: docs/security.md has the exact list.","type":["boolean","string"],"x-value":"bool","default":false};

function validate223(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate223.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if((typeof data !== "boolean") && (typeof data !== "string")){
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: schema100.type},message:"must be boolean,string",schema:schema100.type,parentSchema:schema100,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
const reason0 = checkScalar.call(this, "bool", data, schema100, instancePath);
if(reason0 !== undefined){
const err1 = {instancePath,schemaPath:"#/x-value",keyword:"x-value",params:{},message:reason0,schema:"bool",parentSchema:schema100,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate223.errors = vErrors;
return errors === 0;
}
validate223.evaluated = {"dynamicProps":false,"dynamicItems":false};

const schema101 = {"description":"With `use_mount_namespace` an action cannot change, replace or remove its inputs, because they are mounted read-only. It can create files in the working directory, beside its outputs, and in the directories above those. It can write copies: an output that is also an input, and files beside outputs above 128 mounts. It can replace a symlink beside outputs, which no other action sees. `false`: all inputs are copies (clones if the file system has them) that no other action gets.","type":["boolean","string"],"x-value":"bool","default":true};

function validate225(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate225.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if((typeof data !== "boolean") && (typeof data !== "string")){
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: schema101.type},message:"must be boolean,string",schema:schema101.type,parentSchema:schema101,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
const reason0 = checkScalar.call(this, "bool", data, schema101, instancePath);
if(reason0 !== undefined){
const err1 = {instancePath,schemaPath:"#/x-value",keyword:"x-value",params:{},message:reason0,schema:"bool",parentSchema:schema101,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate225.errors = vErrors;
return errors === 0;
}
validate225.evaluated = {"dynamicProps":false,"dynamicItems":false};

const schema102 = {"description":"For clients that send a whole system with each action, such as BuildStream: the input root is `/`, with `/dev`, `/proc` and a private `/tmp`, and without any path of the machine. Needs `use_mount_namespace`.","type":["boolean","string"],"x-value":"bool","default":false};

function validate227(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate227.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if((typeof data !== "boolean") && (typeof data !== "string")){
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: schema102.type},message:"must be boolean,string",schema:schema102.type,parentSchema:schema102,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
const reason0 = checkScalar.call(this, "bool", data, schema102, instancePath);
if(reason0 !== undefined){
const err1 = {instancePath,schemaPath:"#/x-value",keyword:"x-value",params:{},message:reason0,schema:"bool",parentSchema:schema102,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate227.errors = vErrors;
return errors === 0;
}
validate227.evaluated = {"dynamicProps":false,"dynamicItems":false};


function validate166(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/worker/worker.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate166.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.scheduler_endpoint === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "scheduler_endpoint"},message:"must have required property '"+"scheduler_endpoint"+"'",schema:schema72.required,parentSchema:schema72,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.cas_fast_slow_store === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "cas_fast_slow_store"},message:"must have required property '"+"cas_fast_slow_store"+"'",schema:schema72.required,parentSchema:schema72,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.work_directory === undefined){
const err2 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "work_directory"},message:"must have required property '"+"work_directory"+"'",schema:schema72.required,parentSchema:schema72,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
for(const key0 in data){
if(!(func1.call(schema72.properties, key0))){
const err3 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema72,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.scheduler_endpoint !== undefined){
let data0 = data.scheduler_endpoint;
if(typeof data0 !== "string"){
const err4 = {instancePath:instancePath+"/scheduler_endpoint",schemaPath:"#/properties/scheduler_endpoint/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema72.properties.scheduler_endpoint.type,parentSchema:schema72.properties.scheduler_endpoint,data:data0};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.name !== undefined){
if(!(validate167.call(this, data.name, {instancePath:instancePath+"/name",parentData:data,parentDataProperty:"name",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate167.errors);
errors = vErrors.length;
}
}
if(data.max_action_timeout_s !== undefined){
if(!(validate169.call(this, data.max_action_timeout_s, {instancePath:instancePath+"/max_action_timeout_s",parentData:data,parentDataProperty:"max_action_timeout_s",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate169.errors);
errors = vErrors.length;
}
}
if(data.max_action_timeout !== undefined){
if(!(validate171.call(this, data.max_action_timeout, {instancePath:instancePath+"/max_action_timeout",parentData:data,parentDataProperty:"max_action_timeout",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate171.errors);
errors = vErrors.length;
}
}
if(data.max_upload_timeout_s !== undefined){
if(!(validate173.call(this, data.max_upload_timeout_s, {instancePath:instancePath+"/max_upload_timeout_s",parentData:data,parentDataProperty:"max_upload_timeout_s",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate173.errors);
errors = vErrors.length;
}
}
if(data.max_upload_timeout !== undefined){
if(!(validate175.call(this, data.max_upload_timeout, {instancePath:instancePath+"/max_upload_timeout",parentData:data,parentDataProperty:"max_upload_timeout",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate175.errors);
errors = vErrors.length;
}
}
if(data.max_cleanup_wait_s !== undefined){
if(!(validate177.call(this, data.max_cleanup_wait_s, {instancePath:instancePath+"/max_cleanup_wait_s",parentData:data,parentDataProperty:"max_cleanup_wait_s",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate177.errors);
errors = vErrors.length;
}
}
if(data.max_cleanup_backoff_ms !== undefined){
if(!(validate179.call(this, data.max_cleanup_backoff_ms, {instancePath:instancePath+"/max_cleanup_backoff_ms",parentData:data,parentDataProperty:"max_cleanup_backoff_ms",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate179.errors);
errors = vErrors.length;
}
}
if(data.max_inflight_tasks !== undefined){
if(!(validate181.call(this, data.max_inflight_tasks, {instancePath:instancePath+"/max_inflight_tasks",parentData:data,parentDataProperty:"max_inflight_tasks",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate181.errors);
errors = vErrors.length;
}
}
if(data.timeout_handled_externally !== undefined){
if(!(validate183.call(this, data.timeout_handled_externally, {instancePath:instancePath+"/timeout_handled_externally",parentData:data,parentDataProperty:"timeout_handled_externally",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate183.errors);
errors = vErrors.length;
}
}
if(data.termination_grace_s !== undefined){
if(!(validate185.call(this, data.termination_grace_s, {instancePath:instancePath+"/termination_grace_s",parentData:data,parentDataProperty:"termination_grace_s",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate185.errors);
errors = vErrors.length;
}
}
if(data.timeout_message !== undefined){
if(!(validate187.call(this, data.timeout_message, {instancePath:instancePath+"/timeout_message",parentData:data,parentDataProperty:"timeout_message",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate187.errors);
errors = vErrors.length;
}
}
if(data.entrypoint !== undefined){
if(!(validate189.call(this, data.entrypoint, {instancePath:instancePath+"/entrypoint",parentData:data,parentDataProperty:"entrypoint",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate189.errors);
errors = vErrors.length;
}
}
if(data.experimental_precondition_script !== undefined){
if(!(validate191.call(this, data.experimental_precondition_script, {instancePath:instancePath+"/experimental_precondition_script",parentData:data,parentDataProperty:"experimental_precondition_script",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate191.errors);
errors = vErrors.length;
}
}
if(data.cas_fast_slow_store !== undefined){
if(!(validate193.call(this, data.cas_fast_slow_store, {instancePath:instancePath+"/cas_fast_slow_store",parentData:data,parentDataProperty:"cas_fast_slow_store",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate193.errors);
errors = vErrors.length;
}
}
if(data.upload_action_result !== undefined){
if(!(validate195.call(this, data.upload_action_result, {instancePath:instancePath+"/upload_action_result",parentData:data,parentDataProperty:"upload_action_result",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate195.errors);
errors = vErrors.length;
}
}
if(data.work_directory !== undefined){
if(!(validate197.call(this, data.work_directory, {instancePath:instancePath+"/work_directory",parentData:data,parentDataProperty:"work_directory",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate197.errors);
errors = vErrors.length;
}
}
if(data.platform_properties !== undefined){
if(!(validate199.call(this, data.platform_properties, {instancePath:instancePath+"/platform_properties",parentData:data,parentDataProperty:"platform_properties",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate199.errors);
errors = vErrors.length;
}
}
if(data.additional_environment !== undefined){
if(!(validate202.call(this, data.additional_environment, {instancePath:instancePath+"/additional_environment",parentData:data,parentDataProperty:"additional_environment",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate202.errors);
errors = vErrors.length;
}
}
if(data.default_path !== undefined){
if(!(validate205.call(this, data.default_path, {instancePath:instancePath+"/default_path",parentData:data,parentDataProperty:"default_path",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate205.errors);
errors = vErrors.length;
}
}
if(data.action_limits !== undefined){
if(!(validate207.call(this, data.action_limits, {instancePath:instancePath+"/action_limits",parentData:data,parentDataProperty:"action_limits",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate207.errors);
errors = vErrors.length;
}
}
if(data.directory_cache !== undefined){
if(!(validate209.call(this, data.directory_cache, {instancePath:instancePath+"/directory_cache",parentData:data,parentDataProperty:"directory_cache",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate209.errors);
errors = vErrors.length;
}
}
if(data.experimental_active_input_leases !== undefined){
if(!(validate211.call(this, data.experimental_active_input_leases, {instancePath:instancePath+"/experimental_active_input_leases",parentData:data,parentDataProperty:"experimental_active_input_leases",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate211.errors);
errors = vErrors.length;
}
}
if(data.control_groups !== undefined){
if(!(validate213.call(this, data.control_groups, {instancePath:instancePath+"/control_groups",parentData:data,parentDataProperty:"control_groups",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate213.errors);
errors = vErrors.length;
}
}
if(data.container_images !== undefined){
if(!(validate215.call(this, data.container_images, {instancePath:instancePath+"/container_images",parentData:data,parentDataProperty:"container_images",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate215.errors);
errors = vErrors.length;
}
}
if(data.persistent_workers !== undefined){
if(!(validate217.call(this, data.persistent_workers, {instancePath:instancePath+"/persistent_workers",parentData:data,parentDataProperty:"persistent_workers",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate217.errors);
errors = vErrors.length;
}
}
if(data.use_namespaces !== undefined){
if(!(validate219.call(this, data.use_namespaces, {instancePath:instancePath+"/use_namespaces",parentData:data,parentDataProperty:"use_namespaces",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate219.errors);
errors = vErrors.length;
}
}
if(data.keep_network !== undefined){
if(!(validate221.call(this, data.keep_network, {instancePath:instancePath+"/keep_network",parentData:data,parentDataProperty:"keep_network",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate221.errors);
errors = vErrors.length;
}
}
if(data.use_mount_namespace !== undefined){
if(!(validate223.call(this, data.use_mount_namespace, {instancePath:instancePath+"/use_mount_namespace",parentData:data,parentDataProperty:"use_mount_namespace",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate223.errors);
errors = vErrors.length;
}
}
if(data.read_only_inputs !== undefined){
if(!(validate225.call(this, data.read_only_inputs, {instancePath:instancePath+"/read_only_inputs",parentData:data,parentDataProperty:"read_only_inputs",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate225.errors);
errors = vErrors.length;
}
}
if(data.input_root_is_root !== undefined){
if(!(validate227.call(this, data.input_root_is_root, {instancePath:instancePath+"/input_root_is_root",parentData:data,parentDataProperty:"input_root_is_root",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate227.errors);
errors = vErrors.length;
}
}
}
else {
const err5 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema72.type,parentSchema:schema72,data};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
validate166.errors = vErrors;
return errors === 0;
}
validate166.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};


function validate152(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/worker.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate152.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!(((key0 === "name") || (key0 === "local")) || (key0 === "worker"))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema65,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.name !== undefined){
let data0 = data.name;
if(typeof data0 !== "string"){
const err1 = {instancePath:instancePath+"/name",schemaPath:"#/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema65.properties.name.type,parentSchema:schema65.properties.name,data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.local !== undefined){
if(!(validate153.call(this, data.local, {instancePath:instancePath+"/local",parentData:data,parentDataProperty:"local",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate153.errors);
errors = vErrors.length;
}
}
if(data.worker !== undefined){
if(!(validate166.call(this, data.worker, {instancePath:instancePath+"/worker",parentData:data,parentDataProperty:"worker",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate166.errors);
errors = vErrors.length;
}
}
const reason0 = checkKind.call(this, "worker", data, schema65, instancePath);
if(reason0 !== undefined){
const err2 = {instancePath,schemaPath:"#/x-kinds",keyword:"x-kinds",params:{},message:reason0,schema:"worker",parentSchema:schema65,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
else {
const err3 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema65.type,parentSchema:schema65,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate152.errors = vErrors;
return errors === 0;
}
validate152.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema103 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/server.json","title":"Server","description":"A listener and the services on it.","type":"object","properties":{"name":{"description":"Name of the server in logs. Left out: its index in the list.","type":"string"},"listener":{"title":"ServerListener","description":"The listener; `http` is the only kind.","type":"object","properties":{"http":{"$ref":"https://remexec.invalid/schema/listener.json"}},"additionalProperties":false,"required":["http"]},"services":{"$ref":"https://remexec.invalid/schema/services.json"},"experimental_identity_header":{"title":"BaggageIdentity","x-lenient":"always","description":"Ask clients to say who they are in a header.","type":"object","properties":{"header_name":{"description":"No longer used.","deprecated":true,"x-ignored":true},"required":{"description":"Reject calls without it.","type":["boolean","string"],"x-value":"bool","default":false,"x-available":false}},"additionalProperties":false,"default":{}}},"additionalProperties":false,"required":["listener","services"]};
const schema104 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/listener.json","title":"Listener","description":"The address of a server and its transport settings.","type":"object","properties":{"socket_address":{"description":"`host:port`. The host may be a name; without it the server listens on every address of the machine. Port 0 takes any free port. Or `unix:/path`: a socket of this machine, without TLS; a socket that nobody listens on is replaced.","type":"string","x-address":true},"unix_socket_mode":{"description":"Permissions of the socket of `unix:/path`: who may write to it may connect. It has the group of the process, or that of its folder if the folder has the setgid bit.","type":"string","pattern":"^0?[0-7]{3}$","x-expected":"three octal digits, such as 0660","default":"0660"},"transport":{"description":"The implementation of gRPC on this listener: `remexec`, which needs far less CPU, or the library `grpc-js`, as a fallback if the first has a fault. docs/transport.md compares them.","type":"string","enum":["remexec","grpc-js"],"default":"remexec"},"freebind":{"description":"Bind to an address the machine does not have yet.","type":["boolean","string"],"x-value":"bool","default":false,"x-ignored":"Node has no way to ask for it"},"compression":{"title":"ListenerCompression","description":"Compression of gRPC messages, apart from the compressed blobs of the protocol.","type":"object","properties":{"send_compression_algorithm":{"description":"Compressions of responses, for clients that accept them. This costs about 20 ms of CPU per MiB. Blobs that a client reads compressed are not compressed again. `gzip` needs `transport: \"remexec\"`.","type":"string","enum":["none","gzip"],"default":"none"},"accepted_compression_algorithms":{"description":"Compressions accepted in requests; others are rejected with UNIMPLEMENTED. An empty list accepts none. `transport: \"grpc-js\"` always accepts gzip and deflate.","type":"array","items":{"type":"string","enum":["none","gzip","deflate"]},"default":["gzip","deflate"],"x-nativelink-default":"none"}},"additionalProperties":false,"default":{}},"max_connections":{"description":"Most connections at a time; 0 means no limit. A further one is closed at once, before any byte is read, and logged.","type":["integer","string"],"x-value":"count","minimum":0,"default":10000},"max_connections_per_address":{"description":"Most connections at a time from one address; 0 means no limit. Set it to 0, or higher, if many clients share an address, behind a proxy or NAT.","type":["integer","string"],"x-value":"count","minimum":0,"default":2000},"request_timeout_s":{"description":"How long a request message may stay incomplete while the server waits for it: the only message of most calls, each message of an upload. After that the call ends with DEADLINE_EXCEEDED; an upload can be resumed. Over HTTP a body must bring 64 KiB in this time, and a client take 256 KiB of an answer. 0 means no limit. Needs `transport: \"remexec\"`.","type":["integer","string"],"x-value":"duration","minimum":0,"maximum":86400,"default":120},"advanced_http":{"title":"AdvancedHttp","description":"HTTP/2 settings of the listener, for `transport: \"remexec\"`. docs/transport.md describes what they limit.","type":"object","properties":{"http2_keep_alive_interval":{"description":"Seconds without a byte from the client before the server sends a PING; 0 never sends one.","type":["integer","string"],"x-value":"count","minimum":0,"maximum":86400,"default":60},"experimental_http2_max_pending_accept_reset_streams":{"description":"Streams that a client may reset or break at once. A connection also gets 200 a second, and one for each answered stream. A connection that exceeds this is closed.","type":["integer","string"],"x-value":"count","minimum":1,"maximum":1000000,"default":2000},"experimental_http2_initial_stream_window_size":{"description":"Bytes that a client may send on a stream before they are read.","type":["integer","string"],"x-value":"count","minimum":16384,"maximum":2147483647,"default":262144},"experimental_http2_initial_connection_window_size":{"description":"Bytes that a client may send on all streams of a connection before they are read.","type":["integer","string"],"x-value":"count","minimum":65535,"maximum":2147483647,"default":4194304},"experimental_http2_adaptive_window":{"description":"Windows that grow automatically: set their sizes instead.","type":["boolean","string"],"x-value":"bool","default":false,"x-available":false},"experimental_http2_max_frame_size":{"description":"The largest frame that is accepted: 16,384 bytes, no other value. Larger frames save nothing.","type":["integer","string"],"x-value":"count","minimum":16384,"maximum":16384,"default":16384},"experimental_http2_max_concurrent_streams":{"description":"Most calls at a time on a connection, including cancelled calls that have not ended yet.","type":["integer","string"],"x-value":"count","minimum":1,"maximum":1000000,"default":1024},"experimental_http2_keep_alive_timeout_s":{"description":"How long the answer to a PING may take before the connection is closed.","type":["integer","string"],"x-value":"duration","minimum":1,"default":20},"experimental_http2_keep_alive_timeout":{"description":"Older spelling of `experimental_http2_keep_alive_timeout_s`.","deprecated":true,"x-alias-of":"experimental_http2_keep_alive_timeout_s","$ref":"https://remexec.invalid/schema/listener.json#/properties/advanced_http/properties/experimental_http2_keep_alive_timeout_s"},"experimental_http2_max_send_buf_size":{"description":"Bytes that may wait for the socket of a connection before the server stops producing responses for it.","type":["integer","string"],"x-value":"count","minimum":16384,"maximum":16777216,"default":65536},"experimental_http2_enable_connect_protocol":{"description":"Extended CONNECT (RFC 8441), which the server does not use.","type":["boolean","string"],"x-value":"bool","default":false,"x-available":false},"experimental_http2_max_header_list_size":{"description":"Most bytes of request header fields, counted as in RFC 9113, 6.5.2; larger requests get 431.","type":["integer","string"],"x-value":"count","minimum":8192,"maximum":1048576,"default":32768}},"additionalProperties":false,"default":{}},"max_decoding_message_size":{"description":"Largest message a client may send.","type":["integer","string"],"x-value":"size","default":16777216,"x-zero-is-default":true,"maximum":2147483647,"x-nativelink-default":"4 MiB"},"tls":{"title":"ListenerTls","description":"Serve with TLS on the whole port: gRPC and HTTP pages. Changed files are read again within 5 seconds and apply to new connections; open ones stay.","type":"object","properties":{"cert_file":{"description":"PEM certificate of this server, followed by its intermediate certificates.","type":"string","x-path":true},"key_file":{"description":"PEM key of the certificate, without a password. Only the user of this process should be able to read it.","type":"string","x-path":true},"client_ca_file":{"description":"PEM file of authorities. If set, every client needs a certificate from one of them.","type":"string","x-path":true,"x-public":true},"client_crl_file":{"description":"PEM file with the revocation lists of all authorities in `client_ca_file`, each still valid. Clients with a revoked certificate are rejected.","type":"string","x-path":true,"x-public":true},"client_certificates":{"description":"Accept clients without a certificate although `client_ca_file` is set. An invalid certificate is rejected either way.","type":"string","enum":["required","optional"],"default":"required"},"min_version":{"description":"The lowest accepted TLS version.","type":"string","enum":["1.2","1.3"],"default":"1.2"}},"additionalProperties":false,"required":["cert_file","key_file"]}},"additionalProperties":false,"required":["socket_address"]};
const pattern4 = new RegExp("^0?[0-7]{3}$", "u");
const schema105 = {"description":"How long the answer to a PING may take before the connection is closed.","type":["integer","string"],"x-value":"duration","minimum":1,"default":20};

function validate234(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate234.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if((!(((typeof data == "number") && (!(data % 1) && !isNaN(data))) && (isFinite(data)))) && (typeof data !== "string")){
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: schema105.type},message:"must be integer,string",schema:schema105.type,parentSchema:schema105,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
const reason0 = checkScalar.call(this, "duration", data, schema105, instancePath);
if(reason0 !== undefined){
const err1 = {instancePath,schemaPath:"#/x-value",keyword:"x-value",params:{},message:reason0,schema:"duration",parentSchema:schema105,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if((typeof data == "number") && (isFinite(data))){
if(data < 1 || isNaN(data)){
const err2 = {instancePath,schemaPath:"#/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema105,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
validate234.errors = vErrors;
return errors === 0;
}
validate234.evaluated = {"dynamicProps":false,"dynamicItems":false};


function validate233(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/listener.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate233.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.socket_address === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "socket_address"},message:"must have required property '"+"socket_address"+"'",schema:schema104.required,parentSchema:schema104,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(func1.call(schema104.properties, key0))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema104,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.socket_address !== undefined){
let data0 = data.socket_address;
if(typeof data0 !== "string"){
const err2 = {instancePath:instancePath+"/socket_address",schemaPath:"#/properties/socket_address/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema104.properties.socket_address.type,parentSchema:schema104.properties.socket_address,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.unix_socket_mode !== undefined){
let data1 = data.unix_socket_mode;
if(typeof data1 === "string"){
if(!pattern4.test(data1)){
const err3 = {instancePath:instancePath+"/unix_socket_mode",schemaPath:"#/properties/unix_socket_mode/pattern",keyword:"pattern",params:{pattern: "^0?[0-7]{3}$"},message:"must match pattern \""+"^0?[0-7]{3}$"+"\"",schema:"^0?[0-7]{3}$",parentSchema:schema104.properties.unix_socket_mode,data:data1};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
else {
const err4 = {instancePath:instancePath+"/unix_socket_mode",schemaPath:"#/properties/unix_socket_mode/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema104.properties.unix_socket_mode.type,parentSchema:schema104.properties.unix_socket_mode,data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.transport !== undefined){
let data2 = data.transport;
if(typeof data2 !== "string"){
const err5 = {instancePath:instancePath+"/transport",schemaPath:"#/properties/transport/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema104.properties.transport.type,parentSchema:schema104.properties.transport,data:data2};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if(!((data2 === "remexec") || (data2 === "grpc-js"))){
const err6 = {instancePath:instancePath+"/transport",schemaPath:"#/properties/transport/enum",keyword:"enum",params:{allowedValues: schema104.properties.transport.enum},message:"must be equal to one of the allowed values",schema:schema104.properties.transport.enum,parentSchema:schema104.properties.transport,data:data2};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data.freebind !== undefined){
let data3 = data.freebind;
if((typeof data3 !== "boolean") && (typeof data3 !== "string")){
const err7 = {instancePath:instancePath+"/freebind",schemaPath:"#/properties/freebind/type",keyword:"type",params:{type: schema104.properties.freebind.type},message:"must be boolean,string",schema:schema104.properties.freebind.type,parentSchema:schema104.properties.freebind,data:data3};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
const reason0 = checkScalar.call(this, "bool", data3, schema104.properties.freebind, instancePath+"/freebind");
if(reason0 !== undefined){
const err8 = {instancePath:instancePath+"/freebind",schemaPath:"#/properties/freebind/x-value",keyword:"x-value",params:{},message:reason0,schema:"bool",parentSchema:schema104.properties.freebind,data:data3};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
if(data.compression !== undefined){
let data4 = data.compression;
if(data4 && typeof data4 == "object" && !Array.isArray(data4)){
for(const key1 in data4){
if(!((key1 === "send_compression_algorithm") || (key1 === "accepted_compression_algorithms"))){
const err9 = {instancePath:instancePath+"/compression",schemaPath:"#/properties/compression/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key1},message:"must NOT have additional properties",schema:false,parentSchema:schema104.properties.compression,data:data4};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
if(data4.send_compression_algorithm !== undefined){
let data5 = data4.send_compression_algorithm;
if(typeof data5 !== "string"){
const err10 = {instancePath:instancePath+"/compression/send_compression_algorithm",schemaPath:"#/properties/compression/properties/send_compression_algorithm/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema104.properties.compression.properties.send_compression_algorithm.type,parentSchema:schema104.properties.compression.properties.send_compression_algorithm,data:data5};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
if(!((data5 === "none") || (data5 === "gzip"))){
const err11 = {instancePath:instancePath+"/compression/send_compression_algorithm",schemaPath:"#/properties/compression/properties/send_compression_algorithm/enum",keyword:"enum",params:{allowedValues: schema104.properties.compression.properties.send_compression_algorithm.enum},message:"must be equal to one of the allowed values",schema:schema104.properties.compression.properties.send_compression_algorithm.enum,parentSchema:schema104.properties.compression.properties.send_compression_algorithm,data:data5};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
if(data4.accepted_compression_algorithms !== undefined){
let data6 = data4.accepted_compression_algorithms;
if(Array.isArray(data6)){
const len0 = data6.length;
for(let i0=0; i0<len0; i0++){
let data7 = data6[i0];
if(typeof data7 !== "string"){
const err12 = {instancePath:instancePath+"/compression/accepted_compression_algorithms/" + i0,schemaPath:"#/properties/compression/properties/accepted_compression_algorithms/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema104.properties.compression.properties.accepted_compression_algorithms.items.type,parentSchema:schema104.properties.compression.properties.accepted_compression_algorithms.items,data:data7};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
if(!(((data7 === "none") || (data7 === "gzip")) || (data7 === "deflate"))){
const err13 = {instancePath:instancePath+"/compression/accepted_compression_algorithms/" + i0,schemaPath:"#/properties/compression/properties/accepted_compression_algorithms/items/enum",keyword:"enum",params:{allowedValues: schema104.properties.compression.properties.accepted_compression_algorithms.items.enum},message:"must be equal to one of the allowed values",schema:schema104.properties.compression.properties.accepted_compression_algorithms.items.enum,parentSchema:schema104.properties.compression.properties.accepted_compression_algorithms.items,data:data7};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
}
}
else {
const err14 = {instancePath:instancePath+"/compression/accepted_compression_algorithms",schemaPath:"#/properties/compression/properties/accepted_compression_algorithms/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema104.properties.compression.properties.accepted_compression_algorithms.type,parentSchema:schema104.properties.compression.properties.accepted_compression_algorithms,data:data6};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
}
else {
const err15 = {instancePath:instancePath+"/compression",schemaPath:"#/properties/compression/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema104.properties.compression.type,parentSchema:schema104.properties.compression,data:data4};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
if(data.max_connections !== undefined){
let data8 = data.max_connections;
if((!(((typeof data8 == "number") && (!(data8 % 1) && !isNaN(data8))) && (isFinite(data8)))) && (typeof data8 !== "string")){
const err16 = {instancePath:instancePath+"/max_connections",schemaPath:"#/properties/max_connections/type",keyword:"type",params:{type: schema104.properties.max_connections.type},message:"must be integer,string",schema:schema104.properties.max_connections.type,parentSchema:schema104.properties.max_connections,data:data8};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
const reason1 = checkScalar.call(this, "count", data8, schema104.properties.max_connections, instancePath+"/max_connections");
if(reason1 !== undefined){
const err17 = {instancePath:instancePath+"/max_connections",schemaPath:"#/properties/max_connections/x-value",keyword:"x-value",params:{},message:reason1,schema:"count",parentSchema:schema104.properties.max_connections,data:data8};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
if((typeof data8 == "number") && (isFinite(data8))){
if(data8 < 0 || isNaN(data8)){
const err18 = {instancePath:instancePath+"/max_connections",schemaPath:"#/properties/max_connections/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema104.properties.max_connections,data:data8};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
}
}
if(data.max_connections_per_address !== undefined){
let data9 = data.max_connections_per_address;
if((!(((typeof data9 == "number") && (!(data9 % 1) && !isNaN(data9))) && (isFinite(data9)))) && (typeof data9 !== "string")){
const err19 = {instancePath:instancePath+"/max_connections_per_address",schemaPath:"#/properties/max_connections_per_address/type",keyword:"type",params:{type: schema104.properties.max_connections_per_address.type},message:"must be integer,string",schema:schema104.properties.max_connections_per_address.type,parentSchema:schema104.properties.max_connections_per_address,data:data9};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
const reason2 = checkScalar.call(this, "count", data9, schema104.properties.max_connections_per_address, instancePath+"/max_connections_per_address");
if(reason2 !== undefined){
const err20 = {instancePath:instancePath+"/max_connections_per_address",schemaPath:"#/properties/max_connections_per_address/x-value",keyword:"x-value",params:{},message:reason2,schema:"count",parentSchema:schema104.properties.max_connections_per_address,data:data9};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
if((typeof data9 == "number") && (isFinite(data9))){
if(data9 < 0 || isNaN(data9)){
const err21 = {instancePath:instancePath+"/max_connections_per_address",schemaPath:"#/properties/max_connections_per_address/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema104.properties.max_connections_per_address,data:data9};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
}
}
if(data.request_timeout_s !== undefined){
let data10 = data.request_timeout_s;
if((!(((typeof data10 == "number") && (!(data10 % 1) && !isNaN(data10))) && (isFinite(data10)))) && (typeof data10 !== "string")){
const err22 = {instancePath:instancePath+"/request_timeout_s",schemaPath:"#/properties/request_timeout_s/type",keyword:"type",params:{type: schema104.properties.request_timeout_s.type},message:"must be integer,string",schema:schema104.properties.request_timeout_s.type,parentSchema:schema104.properties.request_timeout_s,data:data10};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
const reason3 = checkScalar.call(this, "duration", data10, schema104.properties.request_timeout_s, instancePath+"/request_timeout_s");
if(reason3 !== undefined){
const err23 = {instancePath:instancePath+"/request_timeout_s",schemaPath:"#/properties/request_timeout_s/x-value",keyword:"x-value",params:{},message:reason3,schema:"duration",parentSchema:schema104.properties.request_timeout_s,data:data10};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
if((typeof data10 == "number") && (isFinite(data10))){
if(data10 > 86400 || isNaN(data10)){
const err24 = {instancePath:instancePath+"/request_timeout_s",schemaPath:"#/properties/request_timeout_s/maximum",keyword:"maximum",params:{comparison: "<=", limit: 86400},message:"must be <= 86400",schema:86400,parentSchema:schema104.properties.request_timeout_s,data:data10};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
if(data10 < 0 || isNaN(data10)){
const err25 = {instancePath:instancePath+"/request_timeout_s",schemaPath:"#/properties/request_timeout_s/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema104.properties.request_timeout_s,data:data10};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
}
}
if(data.advanced_http !== undefined){
let data11 = data.advanced_http;
if(data11 && typeof data11 == "object" && !Array.isArray(data11)){
for(const key2 in data11){
if(!(func1.call(schema104.properties.advanced_http.properties, key2))){
const err26 = {instancePath:instancePath+"/advanced_http",schemaPath:"#/properties/advanced_http/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key2},message:"must NOT have additional properties",schema:false,parentSchema:schema104.properties.advanced_http,data:data11};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
}
if(data11.http2_keep_alive_interval !== undefined){
let data12 = data11.http2_keep_alive_interval;
if((!(((typeof data12 == "number") && (!(data12 % 1) && !isNaN(data12))) && (isFinite(data12)))) && (typeof data12 !== "string")){
const err27 = {instancePath:instancePath+"/advanced_http/http2_keep_alive_interval",schemaPath:"#/properties/advanced_http/properties/http2_keep_alive_interval/type",keyword:"type",params:{type: schema104.properties.advanced_http.properties.http2_keep_alive_interval.type},message:"must be integer,string",schema:schema104.properties.advanced_http.properties.http2_keep_alive_interval.type,parentSchema:schema104.properties.advanced_http.properties.http2_keep_alive_interval,data:data12};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
const reason4 = checkScalar.call(this, "count", data12, schema104.properties.advanced_http.properties.http2_keep_alive_interval, instancePath+"/advanced_http/http2_keep_alive_interval");
if(reason4 !== undefined){
const err28 = {instancePath:instancePath+"/advanced_http/http2_keep_alive_interval",schemaPath:"#/properties/advanced_http/properties/http2_keep_alive_interval/x-value",keyword:"x-value",params:{},message:reason4,schema:"count",parentSchema:schema104.properties.advanced_http.properties.http2_keep_alive_interval,data:data12};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
if((typeof data12 == "number") && (isFinite(data12))){
if(data12 > 86400 || isNaN(data12)){
const err29 = {instancePath:instancePath+"/advanced_http/http2_keep_alive_interval",schemaPath:"#/properties/advanced_http/properties/http2_keep_alive_interval/maximum",keyword:"maximum",params:{comparison: "<=", limit: 86400},message:"must be <= 86400",schema:86400,parentSchema:schema104.properties.advanced_http.properties.http2_keep_alive_interval,data:data12};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
if(data12 < 0 || isNaN(data12)){
const err30 = {instancePath:instancePath+"/advanced_http/http2_keep_alive_interval",schemaPath:"#/properties/advanced_http/properties/http2_keep_alive_interval/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema104.properties.advanced_http.properties.http2_keep_alive_interval,data:data12};
if(vErrors === null){
vErrors = [err30];
}
else {
vErrors.push(err30);
}
errors++;
}
}
}
if(data11.experimental_http2_max_pending_accept_reset_streams !== undefined){
let data13 = data11.experimental_http2_max_pending_accept_reset_streams;
if((!(((typeof data13 == "number") && (!(data13 % 1) && !isNaN(data13))) && (isFinite(data13)))) && (typeof data13 !== "string")){
const err31 = {instancePath:instancePath+"/advanced_http/experimental_http2_max_pending_accept_reset_streams",schemaPath:"#/properties/advanced_http/properties/experimental_http2_max_pending_accept_reset_streams/type",keyword:"type",params:{type: schema104.properties.advanced_http.properties.experimental_http2_max_pending_accept_reset_streams.type},message:"must be integer,string",schema:schema104.properties.advanced_http.properties.experimental_http2_max_pending_accept_reset_streams.type,parentSchema:schema104.properties.advanced_http.properties.experimental_http2_max_pending_accept_reset_streams,data:data13};
if(vErrors === null){
vErrors = [err31];
}
else {
vErrors.push(err31);
}
errors++;
}
const reason5 = checkScalar.call(this, "count", data13, schema104.properties.advanced_http.properties.experimental_http2_max_pending_accept_reset_streams, instancePath+"/advanced_http/experimental_http2_max_pending_accept_reset_streams");
if(reason5 !== undefined){
const err32 = {instancePath:instancePath+"/advanced_http/experimental_http2_max_pending_accept_reset_streams",schemaPath:"#/properties/advanced_http/properties/experimental_http2_max_pending_accept_reset_streams/x-value",keyword:"x-value",params:{},message:reason5,schema:"count",parentSchema:schema104.properties.advanced_http.properties.experimental_http2_max_pending_accept_reset_streams,data:data13};
if(vErrors === null){
vErrors = [err32];
}
else {
vErrors.push(err32);
}
errors++;
}
if((typeof data13 == "number") && (isFinite(data13))){
if(data13 > 1000000 || isNaN(data13)){
const err33 = {instancePath:instancePath+"/advanced_http/experimental_http2_max_pending_accept_reset_streams",schemaPath:"#/properties/advanced_http/properties/experimental_http2_max_pending_accept_reset_streams/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000000},message:"must be <= 1000000",schema:1000000,parentSchema:schema104.properties.advanced_http.properties.experimental_http2_max_pending_accept_reset_streams,data:data13};
if(vErrors === null){
vErrors = [err33];
}
else {
vErrors.push(err33);
}
errors++;
}
if(data13 < 1 || isNaN(data13)){
const err34 = {instancePath:instancePath+"/advanced_http/experimental_http2_max_pending_accept_reset_streams",schemaPath:"#/properties/advanced_http/properties/experimental_http2_max_pending_accept_reset_streams/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema104.properties.advanced_http.properties.experimental_http2_max_pending_accept_reset_streams,data:data13};
if(vErrors === null){
vErrors = [err34];
}
else {
vErrors.push(err34);
}
errors++;
}
}
}
if(data11.experimental_http2_initial_stream_window_size !== undefined){
let data14 = data11.experimental_http2_initial_stream_window_size;
if((!(((typeof data14 == "number") && (!(data14 % 1) && !isNaN(data14))) && (isFinite(data14)))) && (typeof data14 !== "string")){
const err35 = {instancePath:instancePath+"/advanced_http/experimental_http2_initial_stream_window_size",schemaPath:"#/properties/advanced_http/properties/experimental_http2_initial_stream_window_size/type",keyword:"type",params:{type: schema104.properties.advanced_http.properties.experimental_http2_initial_stream_window_size.type},message:"must be integer,string",schema:schema104.properties.advanced_http.properties.experimental_http2_initial_stream_window_size.type,parentSchema:schema104.properties.advanced_http.properties.experimental_http2_initial_stream_window_size,data:data14};
if(vErrors === null){
vErrors = [err35];
}
else {
vErrors.push(err35);
}
errors++;
}
const reason6 = checkScalar.call(this, "count", data14, schema104.properties.advanced_http.properties.experimental_http2_initial_stream_window_size, instancePath+"/advanced_http/experimental_http2_initial_stream_window_size");
if(reason6 !== undefined){
const err36 = {instancePath:instancePath+"/advanced_http/experimental_http2_initial_stream_window_size",schemaPath:"#/properties/advanced_http/properties/experimental_http2_initial_stream_window_size/x-value",keyword:"x-value",params:{},message:reason6,schema:"count",parentSchema:schema104.properties.advanced_http.properties.experimental_http2_initial_stream_window_size,data:data14};
if(vErrors === null){
vErrors = [err36];
}
else {
vErrors.push(err36);
}
errors++;
}
if((typeof data14 == "number") && (isFinite(data14))){
if(data14 > 2147483647 || isNaN(data14)){
const err37 = {instancePath:instancePath+"/advanced_http/experimental_http2_initial_stream_window_size",schemaPath:"#/properties/advanced_http/properties/experimental_http2_initial_stream_window_size/maximum",keyword:"maximum",params:{comparison: "<=", limit: 2147483647},message:"must be <= 2147483647",schema:2147483647,parentSchema:schema104.properties.advanced_http.properties.experimental_http2_initial_stream_window_size,data:data14};
if(vErrors === null){
vErrors = [err37];
}
else {
vErrors.push(err37);
}
errors++;
}
if(data14 < 16384 || isNaN(data14)){
const err38 = {instancePath:instancePath+"/advanced_http/experimental_http2_initial_stream_window_size",schemaPath:"#/properties/advanced_http/properties/experimental_http2_initial_stream_window_size/minimum",keyword:"minimum",params:{comparison: ">=", limit: 16384},message:"must be >= 16384",schema:16384,parentSchema:schema104.properties.advanced_http.properties.experimental_http2_initial_stream_window_size,data:data14};
if(vErrors === null){
vErrors = [err38];
}
else {
vErrors.push(err38);
}
errors++;
}
}
}
if(data11.experimental_http2_initial_connection_window_size !== undefined){
let data15 = data11.experimental_http2_initial_connection_window_size;
if((!(((typeof data15 == "number") && (!(data15 % 1) && !isNaN(data15))) && (isFinite(data15)))) && (typeof data15 !== "string")){
const err39 = {instancePath:instancePath+"/advanced_http/experimental_http2_initial_connection_window_size",schemaPath:"#/properties/advanced_http/properties/experimental_http2_initial_connection_window_size/type",keyword:"type",params:{type: schema104.properties.advanced_http.properties.experimental_http2_initial_connection_window_size.type},message:"must be integer,string",schema:schema104.properties.advanced_http.properties.experimental_http2_initial_connection_window_size.type,parentSchema:schema104.properties.advanced_http.properties.experimental_http2_initial_connection_window_size,data:data15};
if(vErrors === null){
vErrors = [err39];
}
else {
vErrors.push(err39);
}
errors++;
}
const reason7 = checkScalar.call(this, "count", data15, schema104.properties.advanced_http.properties.experimental_http2_initial_connection_window_size, instancePath+"/advanced_http/experimental_http2_initial_connection_window_size");
if(reason7 !== undefined){
const err40 = {instancePath:instancePath+"/advanced_http/experimental_http2_initial_connection_window_size",schemaPath:"#/properties/advanced_http/properties/experimental_http2_initial_connection_window_size/x-value",keyword:"x-value",params:{},message:reason7,schema:"count",parentSchema:schema104.properties.advanced_http.properties.experimental_http2_initial_connection_window_size,data:data15};
if(vErrors === null){
vErrors = [err40];
}
else {
vErrors.push(err40);
}
errors++;
}
if((typeof data15 == "number") && (isFinite(data15))){
if(data15 > 2147483647 || isNaN(data15)){
const err41 = {instancePath:instancePath+"/advanced_http/experimental_http2_initial_connection_window_size",schemaPath:"#/properties/advanced_http/properties/experimental_http2_initial_connection_window_size/maximum",keyword:"maximum",params:{comparison: "<=", limit: 2147483647},message:"must be <= 2147483647",schema:2147483647,parentSchema:schema104.properties.advanced_http.properties.experimental_http2_initial_connection_window_size,data:data15};
if(vErrors === null){
vErrors = [err41];
}
else {
vErrors.push(err41);
}
errors++;
}
if(data15 < 65535 || isNaN(data15)){
const err42 = {instancePath:instancePath+"/advanced_http/experimental_http2_initial_connection_window_size",schemaPath:"#/properties/advanced_http/properties/experimental_http2_initial_connection_window_size/minimum",keyword:"minimum",params:{comparison: ">=", limit: 65535},message:"must be >= 65535",schema:65535,parentSchema:schema104.properties.advanced_http.properties.experimental_http2_initial_connection_window_size,data:data15};
if(vErrors === null){
vErrors = [err42];
}
else {
vErrors.push(err42);
}
errors++;
}
}
}
if(data11.experimental_http2_adaptive_window !== undefined){
let data16 = data11.experimental_http2_adaptive_window;
if((typeof data16 !== "boolean") && (typeof data16 !== "string")){
const err43 = {instancePath:instancePath+"/advanced_http/experimental_http2_adaptive_window",schemaPath:"#/properties/advanced_http/properties/experimental_http2_adaptive_window/type",keyword:"type",params:{type: schema104.properties.advanced_http.properties.experimental_http2_adaptive_window.type},message:"must be boolean,string",schema:schema104.properties.advanced_http.properties.experimental_http2_adaptive_window.type,parentSchema:schema104.properties.advanced_http.properties.experimental_http2_adaptive_window,data:data16};
if(vErrors === null){
vErrors = [err43];
}
else {
vErrors.push(err43);
}
errors++;
}
const reason8 = checkScalar.call(this, "bool", data16, schema104.properties.advanced_http.properties.experimental_http2_adaptive_window, instancePath+"/advanced_http/experimental_http2_adaptive_window");
if(reason8 !== undefined){
const err44 = {instancePath:instancePath+"/advanced_http/experimental_http2_adaptive_window",schemaPath:"#/properties/advanced_http/properties/experimental_http2_adaptive_window/x-value",keyword:"x-value",params:{},message:reason8,schema:"bool",parentSchema:schema104.properties.advanced_http.properties.experimental_http2_adaptive_window,data:data16};
if(vErrors === null){
vErrors = [err44];
}
else {
vErrors.push(err44);
}
errors++;
}
}
if(data11.experimental_http2_max_frame_size !== undefined){
let data17 = data11.experimental_http2_max_frame_size;
if((!(((typeof data17 == "number") && (!(data17 % 1) && !isNaN(data17))) && (isFinite(data17)))) && (typeof data17 !== "string")){
const err45 = {instancePath:instancePath+"/advanced_http/experimental_http2_max_frame_size",schemaPath:"#/properties/advanced_http/properties/experimental_http2_max_frame_size/type",keyword:"type",params:{type: schema104.properties.advanced_http.properties.experimental_http2_max_frame_size.type},message:"must be integer,string",schema:schema104.properties.advanced_http.properties.experimental_http2_max_frame_size.type,parentSchema:schema104.properties.advanced_http.properties.experimental_http2_max_frame_size,data:data17};
if(vErrors === null){
vErrors = [err45];
}
else {
vErrors.push(err45);
}
errors++;
}
const reason9 = checkScalar.call(this, "count", data17, schema104.properties.advanced_http.properties.experimental_http2_max_frame_size, instancePath+"/advanced_http/experimental_http2_max_frame_size");
if(reason9 !== undefined){
const err46 = {instancePath:instancePath+"/advanced_http/experimental_http2_max_frame_size",schemaPath:"#/properties/advanced_http/properties/experimental_http2_max_frame_size/x-value",keyword:"x-value",params:{},message:reason9,schema:"count",parentSchema:schema104.properties.advanced_http.properties.experimental_http2_max_frame_size,data:data17};
if(vErrors === null){
vErrors = [err46];
}
else {
vErrors.push(err46);
}
errors++;
}
if((typeof data17 == "number") && (isFinite(data17))){
if(data17 > 16384 || isNaN(data17)){
const err47 = {instancePath:instancePath+"/advanced_http/experimental_http2_max_frame_size",schemaPath:"#/properties/advanced_http/properties/experimental_http2_max_frame_size/maximum",keyword:"maximum",params:{comparison: "<=", limit: 16384},message:"must be <= 16384",schema:16384,parentSchema:schema104.properties.advanced_http.properties.experimental_http2_max_frame_size,data:data17};
if(vErrors === null){
vErrors = [err47];
}
else {
vErrors.push(err47);
}
errors++;
}
if(data17 < 16384 || isNaN(data17)){
const err48 = {instancePath:instancePath+"/advanced_http/experimental_http2_max_frame_size",schemaPath:"#/properties/advanced_http/properties/experimental_http2_max_frame_size/minimum",keyword:"minimum",params:{comparison: ">=", limit: 16384},message:"must be >= 16384",schema:16384,parentSchema:schema104.properties.advanced_http.properties.experimental_http2_max_frame_size,data:data17};
if(vErrors === null){
vErrors = [err48];
}
else {
vErrors.push(err48);
}
errors++;
}
}
}
if(data11.experimental_http2_max_concurrent_streams !== undefined){
let data18 = data11.experimental_http2_max_concurrent_streams;
if((!(((typeof data18 == "number") && (!(data18 % 1) && !isNaN(data18))) && (isFinite(data18)))) && (typeof data18 !== "string")){
const err49 = {instancePath:instancePath+"/advanced_http/experimental_http2_max_concurrent_streams",schemaPath:"#/properties/advanced_http/properties/experimental_http2_max_concurrent_streams/type",keyword:"type",params:{type: schema104.properties.advanced_http.properties.experimental_http2_max_concurrent_streams.type},message:"must be integer,string",schema:schema104.properties.advanced_http.properties.experimental_http2_max_concurrent_streams.type,parentSchema:schema104.properties.advanced_http.properties.experimental_http2_max_concurrent_streams,data:data18};
if(vErrors === null){
vErrors = [err49];
}
else {
vErrors.push(err49);
}
errors++;
}
const reason10 = checkScalar.call(this, "count", data18, schema104.properties.advanced_http.properties.experimental_http2_max_concurrent_streams, instancePath+"/advanced_http/experimental_http2_max_concurrent_streams");
if(reason10 !== undefined){
const err50 = {instancePath:instancePath+"/advanced_http/experimental_http2_max_concurrent_streams",schemaPath:"#/properties/advanced_http/properties/experimental_http2_max_concurrent_streams/x-value",keyword:"x-value",params:{},message:reason10,schema:"count",parentSchema:schema104.properties.advanced_http.properties.experimental_http2_max_concurrent_streams,data:data18};
if(vErrors === null){
vErrors = [err50];
}
else {
vErrors.push(err50);
}
errors++;
}
if((typeof data18 == "number") && (isFinite(data18))){
if(data18 > 1000000 || isNaN(data18)){
const err51 = {instancePath:instancePath+"/advanced_http/experimental_http2_max_concurrent_streams",schemaPath:"#/properties/advanced_http/properties/experimental_http2_max_concurrent_streams/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000000},message:"must be <= 1000000",schema:1000000,parentSchema:schema104.properties.advanced_http.properties.experimental_http2_max_concurrent_streams,data:data18};
if(vErrors === null){
vErrors = [err51];
}
else {
vErrors.push(err51);
}
errors++;
}
if(data18 < 1 || isNaN(data18)){
const err52 = {instancePath:instancePath+"/advanced_http/experimental_http2_max_concurrent_streams",schemaPath:"#/properties/advanced_http/properties/experimental_http2_max_concurrent_streams/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema104.properties.advanced_http.properties.experimental_http2_max_concurrent_streams,data:data18};
if(vErrors === null){
vErrors = [err52];
}
else {
vErrors.push(err52);
}
errors++;
}
}
}
if(data11.experimental_http2_keep_alive_timeout_s !== undefined){
let data19 = data11.experimental_http2_keep_alive_timeout_s;
if((!(((typeof data19 == "number") && (!(data19 % 1) && !isNaN(data19))) && (isFinite(data19)))) && (typeof data19 !== "string")){
const err53 = {instancePath:instancePath+"/advanced_http/experimental_http2_keep_alive_timeout_s",schemaPath:"#/properties/advanced_http/properties/experimental_http2_keep_alive_timeout_s/type",keyword:"type",params:{type: schema104.properties.advanced_http.properties.experimental_http2_keep_alive_timeout_s.type},message:"must be integer,string",schema:schema104.properties.advanced_http.properties.experimental_http2_keep_alive_timeout_s.type,parentSchema:schema104.properties.advanced_http.properties.experimental_http2_keep_alive_timeout_s,data:data19};
if(vErrors === null){
vErrors = [err53];
}
else {
vErrors.push(err53);
}
errors++;
}
const reason11 = checkScalar.call(this, "duration", data19, schema104.properties.advanced_http.properties.experimental_http2_keep_alive_timeout_s, instancePath+"/advanced_http/experimental_http2_keep_alive_timeout_s");
if(reason11 !== undefined){
const err54 = {instancePath:instancePath+"/advanced_http/experimental_http2_keep_alive_timeout_s",schemaPath:"#/properties/advanced_http/properties/experimental_http2_keep_alive_timeout_s/x-value",keyword:"x-value",params:{},message:reason11,schema:"duration",parentSchema:schema104.properties.advanced_http.properties.experimental_http2_keep_alive_timeout_s,data:data19};
if(vErrors === null){
vErrors = [err54];
}
else {
vErrors.push(err54);
}
errors++;
}
if((typeof data19 == "number") && (isFinite(data19))){
if(data19 < 1 || isNaN(data19)){
const err55 = {instancePath:instancePath+"/advanced_http/experimental_http2_keep_alive_timeout_s",schemaPath:"#/properties/advanced_http/properties/experimental_http2_keep_alive_timeout_s/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema104.properties.advanced_http.properties.experimental_http2_keep_alive_timeout_s,data:data19};
if(vErrors === null){
vErrors = [err55];
}
else {
vErrors.push(err55);
}
errors++;
}
}
}
if(data11.experimental_http2_keep_alive_timeout !== undefined){
if(!(validate234.call(this, data11.experimental_http2_keep_alive_timeout, {instancePath:instancePath+"/advanced_http/experimental_http2_keep_alive_timeout",parentData:data11,parentDataProperty:"experimental_http2_keep_alive_timeout",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate234.errors);
errors = vErrors.length;
}
}
if(data11.experimental_http2_max_send_buf_size !== undefined){
let data21 = data11.experimental_http2_max_send_buf_size;
if((!(((typeof data21 == "number") && (!(data21 % 1) && !isNaN(data21))) && (isFinite(data21)))) && (typeof data21 !== "string")){
const err56 = {instancePath:instancePath+"/advanced_http/experimental_http2_max_send_buf_size",schemaPath:"#/properties/advanced_http/properties/experimental_http2_max_send_buf_size/type",keyword:"type",params:{type: schema104.properties.advanced_http.properties.experimental_http2_max_send_buf_size.type},message:"must be integer,string",schema:schema104.properties.advanced_http.properties.experimental_http2_max_send_buf_size.type,parentSchema:schema104.properties.advanced_http.properties.experimental_http2_max_send_buf_size,data:data21};
if(vErrors === null){
vErrors = [err56];
}
else {
vErrors.push(err56);
}
errors++;
}
const reason12 = checkScalar.call(this, "count", data21, schema104.properties.advanced_http.properties.experimental_http2_max_send_buf_size, instancePath+"/advanced_http/experimental_http2_max_send_buf_size");
if(reason12 !== undefined){
const err57 = {instancePath:instancePath+"/advanced_http/experimental_http2_max_send_buf_size",schemaPath:"#/properties/advanced_http/properties/experimental_http2_max_send_buf_size/x-value",keyword:"x-value",params:{},message:reason12,schema:"count",parentSchema:schema104.properties.advanced_http.properties.experimental_http2_max_send_buf_size,data:data21};
if(vErrors === null){
vErrors = [err57];
}
else {
vErrors.push(err57);
}
errors++;
}
if((typeof data21 == "number") && (isFinite(data21))){
if(data21 > 16777216 || isNaN(data21)){
const err58 = {instancePath:instancePath+"/advanced_http/experimental_http2_max_send_buf_size",schemaPath:"#/properties/advanced_http/properties/experimental_http2_max_send_buf_size/maximum",keyword:"maximum",params:{comparison: "<=", limit: 16777216},message:"must be <= 16777216",schema:16777216,parentSchema:schema104.properties.advanced_http.properties.experimental_http2_max_send_buf_size,data:data21};
if(vErrors === null){
vErrors = [err58];
}
else {
vErrors.push(err58);
}
errors++;
}
if(data21 < 16384 || isNaN(data21)){
const err59 = {instancePath:instancePath+"/advanced_http/experimental_http2_max_send_buf_size",schemaPath:"#/properties/advanced_http/properties/experimental_http2_max_send_buf_size/minimum",keyword:"minimum",params:{comparison: ">=", limit: 16384},message:"must be >= 16384",schema:16384,parentSchema:schema104.properties.advanced_http.properties.experimental_http2_max_send_buf_size,data:data21};
if(vErrors === null){
vErrors = [err59];
}
else {
vErrors.push(err59);
}
errors++;
}
}
}
if(data11.experimental_http2_enable_connect_protocol !== undefined){
let data22 = data11.experimental_http2_enable_connect_protocol;
if((typeof data22 !== "boolean") && (typeof data22 !== "string")){
const err60 = {instancePath:instancePath+"/advanced_http/experimental_http2_enable_connect_protocol",schemaPath:"#/properties/advanced_http/properties/experimental_http2_enable_connect_protocol/type",keyword:"type",params:{type: schema104.properties.advanced_http.properties.experimental_http2_enable_connect_protocol.type},message:"must be boolean,string",schema:schema104.properties.advanced_http.properties.experimental_http2_enable_connect_protocol.type,parentSchema:schema104.properties.advanced_http.properties.experimental_http2_enable_connect_protocol,data:data22};
if(vErrors === null){
vErrors = [err60];
}
else {
vErrors.push(err60);
}
errors++;
}
const reason13 = checkScalar.call(this, "bool", data22, schema104.properties.advanced_http.properties.experimental_http2_enable_connect_protocol, instancePath+"/advanced_http/experimental_http2_enable_connect_protocol");
if(reason13 !== undefined){
const err61 = {instancePath:instancePath+"/advanced_http/experimental_http2_enable_connect_protocol",schemaPath:"#/properties/advanced_http/properties/experimental_http2_enable_connect_protocol/x-value",keyword:"x-value",params:{},message:reason13,schema:"bool",parentSchema:schema104.properties.advanced_http.properties.experimental_http2_enable_connect_protocol,data:data22};
if(vErrors === null){
vErrors = [err61];
}
else {
vErrors.push(err61);
}
errors++;
}
}
if(data11.experimental_http2_max_header_list_size !== undefined){
let data23 = data11.experimental_http2_max_header_list_size;
if((!(((typeof data23 == "number") && (!(data23 % 1) && !isNaN(data23))) && (isFinite(data23)))) && (typeof data23 !== "string")){
const err62 = {instancePath:instancePath+"/advanced_http/experimental_http2_max_header_list_size",schemaPath:"#/properties/advanced_http/properties/experimental_http2_max_header_list_size/type",keyword:"type",params:{type: schema104.properties.advanced_http.properties.experimental_http2_max_header_list_size.type},message:"must be integer,string",schema:schema104.properties.advanced_http.properties.experimental_http2_max_header_list_size.type,parentSchema:schema104.properties.advanced_http.properties.experimental_http2_max_header_list_size,data:data23};
if(vErrors === null){
vErrors = [err62];
}
else {
vErrors.push(err62);
}
errors++;
}
const reason14 = checkScalar.call(this, "count", data23, schema104.properties.advanced_http.properties.experimental_http2_max_header_list_size, instancePath+"/advanced_http/experimental_http2_max_header_list_size");
if(reason14 !== undefined){
const err63 = {instancePath:instancePath+"/advanced_http/experimental_http2_max_header_list_size",schemaPath:"#/properties/advanced_http/properties/experimental_http2_max_header_list_size/x-value",keyword:"x-value",params:{},message:reason14,schema:"count",parentSchema:schema104.properties.advanced_http.properties.experimental_http2_max_header_list_size,data:data23};
if(vErrors === null){
vErrors = [err63];
}
else {
vErrors.push(err63);
}
errors++;
}
if((typeof data23 == "number") && (isFinite(data23))){
if(data23 > 1048576 || isNaN(data23)){
const err64 = {instancePath:instancePath+"/advanced_http/experimental_http2_max_header_list_size",schemaPath:"#/properties/advanced_http/properties/experimental_http2_max_header_list_size/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1048576},message:"must be <= 1048576",schema:1048576,parentSchema:schema104.properties.advanced_http.properties.experimental_http2_max_header_list_size,data:data23};
if(vErrors === null){
vErrors = [err64];
}
else {
vErrors.push(err64);
}
errors++;
}
if(data23 < 8192 || isNaN(data23)){
const err65 = {instancePath:instancePath+"/advanced_http/experimental_http2_max_header_list_size",schemaPath:"#/properties/advanced_http/properties/experimental_http2_max_header_list_size/minimum",keyword:"minimum",params:{comparison: ">=", limit: 8192},message:"must be >= 8192",schema:8192,parentSchema:schema104.properties.advanced_http.properties.experimental_http2_max_header_list_size,data:data23};
if(vErrors === null){
vErrors = [err65];
}
else {
vErrors.push(err65);
}
errors++;
}
}
}
}
else {
const err66 = {instancePath:instancePath+"/advanced_http",schemaPath:"#/properties/advanced_http/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema104.properties.advanced_http.type,parentSchema:schema104.properties.advanced_http,data:data11};
if(vErrors === null){
vErrors = [err66];
}
else {
vErrors.push(err66);
}
errors++;
}
}
if(data.max_decoding_message_size !== undefined){
let data24 = data.max_decoding_message_size;
if((!(((typeof data24 == "number") && (!(data24 % 1) && !isNaN(data24))) && (isFinite(data24)))) && (typeof data24 !== "string")){
const err67 = {instancePath:instancePath+"/max_decoding_message_size",schemaPath:"#/properties/max_decoding_message_size/type",keyword:"type",params:{type: schema104.properties.max_decoding_message_size.type},message:"must be integer,string",schema:schema104.properties.max_decoding_message_size.type,parentSchema:schema104.properties.max_decoding_message_size,data:data24};
if(vErrors === null){
vErrors = [err67];
}
else {
vErrors.push(err67);
}
errors++;
}
const reason15 = checkScalar.call(this, "size", data24, schema104.properties.max_decoding_message_size, instancePath+"/max_decoding_message_size");
if(reason15 !== undefined){
const err68 = {instancePath:instancePath+"/max_decoding_message_size",schemaPath:"#/properties/max_decoding_message_size/x-value",keyword:"x-value",params:{},message:reason15,schema:"size",parentSchema:schema104.properties.max_decoding_message_size,data:data24};
if(vErrors === null){
vErrors = [err68];
}
else {
vErrors.push(err68);
}
errors++;
}
if((typeof data24 == "number") && (isFinite(data24))){
if(data24 > 2147483647 || isNaN(data24)){
const err69 = {instancePath:instancePath+"/max_decoding_message_size",schemaPath:"#/properties/max_decoding_message_size/maximum",keyword:"maximum",params:{comparison: "<=", limit: 2147483647},message:"must be <= 2147483647",schema:2147483647,parentSchema:schema104.properties.max_decoding_message_size,data:data24};
if(vErrors === null){
vErrors = [err69];
}
else {
vErrors.push(err69);
}
errors++;
}
}
}
if(data.tls !== undefined){
let data25 = data.tls;
if(data25 && typeof data25 == "object" && !Array.isArray(data25)){
if(data25.cert_file === undefined){
const err70 = {instancePath:instancePath+"/tls",schemaPath:"#/properties/tls/required",keyword:"required",params:{missingProperty: "cert_file"},message:"must have required property '"+"cert_file"+"'",schema:schema104.properties.tls.required,parentSchema:schema104.properties.tls,data:data25};
if(vErrors === null){
vErrors = [err70];
}
else {
vErrors.push(err70);
}
errors++;
}
if(data25.key_file === undefined){
const err71 = {instancePath:instancePath+"/tls",schemaPath:"#/properties/tls/required",keyword:"required",params:{missingProperty: "key_file"},message:"must have required property '"+"key_file"+"'",schema:schema104.properties.tls.required,parentSchema:schema104.properties.tls,data:data25};
if(vErrors === null){
vErrors = [err71];
}
else {
vErrors.push(err71);
}
errors++;
}
for(const key3 in data25){
if(!((((((key3 === "cert_file") || (key3 === "key_file")) || (key3 === "client_ca_file")) || (key3 === "client_crl_file")) || (key3 === "client_certificates")) || (key3 === "min_version"))){
const err72 = {instancePath:instancePath+"/tls",schemaPath:"#/properties/tls/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key3},message:"must NOT have additional properties",schema:false,parentSchema:schema104.properties.tls,data:data25};
if(vErrors === null){
vErrors = [err72];
}
else {
vErrors.push(err72);
}
errors++;
}
}
if(data25.cert_file !== undefined){
let data26 = data25.cert_file;
if(typeof data26 !== "string"){
const err73 = {instancePath:instancePath+"/tls/cert_file",schemaPath:"#/properties/tls/properties/cert_file/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema104.properties.tls.properties.cert_file.type,parentSchema:schema104.properties.tls.properties.cert_file,data:data26};
if(vErrors === null){
vErrors = [err73];
}
else {
vErrors.push(err73);
}
errors++;
}
}
if(data25.key_file !== undefined){
let data27 = data25.key_file;
if(typeof data27 !== "string"){
const err74 = {instancePath:instancePath+"/tls/key_file",schemaPath:"#/properties/tls/properties/key_file/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema104.properties.tls.properties.key_file.type,parentSchema:schema104.properties.tls.properties.key_file,data:data27};
if(vErrors === null){
vErrors = [err74];
}
else {
vErrors.push(err74);
}
errors++;
}
}
if(data25.client_ca_file !== undefined){
let data28 = data25.client_ca_file;
if(typeof data28 !== "string"){
const err75 = {instancePath:instancePath+"/tls/client_ca_file",schemaPath:"#/properties/tls/properties/client_ca_file/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema104.properties.tls.properties.client_ca_file.type,parentSchema:schema104.properties.tls.properties.client_ca_file,data:data28};
if(vErrors === null){
vErrors = [err75];
}
else {
vErrors.push(err75);
}
errors++;
}
}
if(data25.client_crl_file !== undefined){
let data29 = data25.client_crl_file;
if(typeof data29 !== "string"){
const err76 = {instancePath:instancePath+"/tls/client_crl_file",schemaPath:"#/properties/tls/properties/client_crl_file/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema104.properties.tls.properties.client_crl_file.type,parentSchema:schema104.properties.tls.properties.client_crl_file,data:data29};
if(vErrors === null){
vErrors = [err76];
}
else {
vErrors.push(err76);
}
errors++;
}
}
if(data25.client_certificates !== undefined){
let data30 = data25.client_certificates;
if(typeof data30 !== "string"){
const err77 = {instancePath:instancePath+"/tls/client_certificates",schemaPath:"#/properties/tls/properties/client_certificates/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema104.properties.tls.properties.client_certificates.type,parentSchema:schema104.properties.tls.properties.client_certificates,data:data30};
if(vErrors === null){
vErrors = [err77];
}
else {
vErrors.push(err77);
}
errors++;
}
if(!((data30 === "required") || (data30 === "optional"))){
const err78 = {instancePath:instancePath+"/tls/client_certificates",schemaPath:"#/properties/tls/properties/client_certificates/enum",keyword:"enum",params:{allowedValues: schema104.properties.tls.properties.client_certificates.enum},message:"must be equal to one of the allowed values",schema:schema104.properties.tls.properties.client_certificates.enum,parentSchema:schema104.properties.tls.properties.client_certificates,data:data30};
if(vErrors === null){
vErrors = [err78];
}
else {
vErrors.push(err78);
}
errors++;
}
}
if(data25.min_version !== undefined){
let data31 = data25.min_version;
if(typeof data31 !== "string"){
const err79 = {instancePath:instancePath+"/tls/min_version",schemaPath:"#/properties/tls/properties/min_version/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema104.properties.tls.properties.min_version.type,parentSchema:schema104.properties.tls.properties.min_version,data:data31};
if(vErrors === null){
vErrors = [err79];
}
else {
vErrors.push(err79);
}
errors++;
}
if(!((data31 === "1.2") || (data31 === "1.3"))){
const err80 = {instancePath:instancePath+"/tls/min_version",schemaPath:"#/properties/tls/properties/min_version/enum",keyword:"enum",params:{allowedValues: schema104.properties.tls.properties.min_version.enum},message:"must be equal to one of the allowed values",schema:schema104.properties.tls.properties.min_version.enum,parentSchema:schema104.properties.tls.properties.min_version,data:data31};
if(vErrors === null){
vErrors = [err80];
}
else {
vErrors.push(err80);
}
errors++;
}
}
}
else {
const err81 = {instancePath:instancePath+"/tls",schemaPath:"#/properties/tls/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema104.properties.tls.type,parentSchema:schema104.properties.tls,data:data25};
if(vErrors === null){
vErrors = [err81];
}
else {
vErrors.push(err81);
}
errors++;
}
}
}
else {
const err82 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema104.type,parentSchema:schema104,data};
if(vErrors === null){
vErrors = [err82];
}
else {
vErrors.push(err82);
}
errors++;
}
validate233.errors = vErrors;
return errors === 0;
}
validate233.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema106 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/services.json","title":"Services","description":"The services of a server; several may share its port.","type":"object","properties":{"cas":{"description":"Content addressable storage. An array of entries with `instance_name`, or an object by instance name.","type":["array","object"],"x-key":"instance_name","items":{"$ref":"https://remexec.invalid/schema/service/cas.json"},"additionalProperties":{"$ref":"https://remexec.invalid/schema/service/cas.json"},"x-also-called":["content_addressable_storage"]},"ac":{"description":"Action cache. An array of entries with `instance_name`, or an object by instance name.","type":["array","object"],"x-key":"instance_name","items":{"$ref":"https://remexec.invalid/schema/service/ac.json"},"additionalProperties":{"$ref":"https://remexec.invalid/schema/service/ac.json"},"x-also-called":["action_cache"]},"capabilities":{"description":"Capabilities. An array of entries with `instance_name`, or an object by instance name.","type":["array","object"],"x-key":"instance_name","items":{"$ref":"https://remexec.invalid/schema/service/capabilities.json"},"additionalProperties":{"$ref":"https://remexec.invalid/schema/service/capabilities.json"}},"execution":{"description":"Remote execution. An array of entries with `instance_name`, or an object by instance name.","type":["array","object"],"x-key":"instance_name","items":{"$ref":"https://remexec.invalid/schema/service/execution.json"},"additionalProperties":{"$ref":"https://remexec.invalid/schema/service/execution.json"},"x-also-called":["remote_execution"]},"bytestream":{"description":"ByteStream. An array of entries with `instance_name`, or an object by instance name.","type":["array","object"],"x-key":"instance_name","items":{"$ref":"https://remexec.invalid/schema/service/bytestream.json"},"additionalProperties":{"$ref":"https://remexec.invalid/schema/service/bytestream.json"},"properties":{"cas_stores":{"description":"Older form: store name by instance name, with the other settings beside it.","deprecated":true,"type":"object","additionalProperties":{"type":"string","x-names":"stores"}},"max_bytes_per_stream":{"$ref":"https://remexec.invalid/schema/service/bytestream.json#/properties/max_bytes_per_stream"},"persist_stream_on_disconnect_timeout_s":{"$ref":"https://remexec.invalid/schema/service/bytestream.json#/properties/persist_stream_on_disconnect_timeout_s"},"persist_stream_on_disconnect_timeout":{"$ref":"https://remexec.invalid/schema/service/bytestream.json#/properties/persist_stream_on_disconnect_timeout"},"max_decoding_message_size":{"description":"No longer used here: see `listener.http.max_decoding_message_size`.","deprecated":true,"x-ignored":true}},"x-shared-form":{"key":"cas_stores","field":"cas_store"},"x-also-called":["byte_stream"]},"fetch":{"description":"Remote Asset Fetch. An array of entries with `instance_name`, or an object by instance name.","type":["array","object"],"x-key":"instance_name","items":{"$ref":"https://remexec.invalid/schema/service/fetch.json"},"additionalProperties":{"$ref":"https://remexec.invalid/schema/service/fetch.json"},"x-also-called":["remote_asset_fetch"]},"push":{"description":"Remote Asset Push. An array of entries with `instance_name`, or an object by instance name.","type":["array","object"],"x-key":"instance_name","items":{"$ref":"https://remexec.invalid/schema/service/push.json"},"additionalProperties":{"$ref":"https://remexec.invalid/schema/service/push.json"},"x-also-called":["remote_asset_push"]},"http_cache":{"description":"Caches of build tools over HTTP. An array of entries with `path`, or an object by path.","type":["array","object"],"x-key":"path","items":{"$ref":"https://remexec.invalid/schema/service/http_cache.json"},"additionalProperties":{"$ref":"https://remexec.invalid/schema/service/http_cache.json"}},"worker_api":{"$ref":"https://remexec.invalid/schema/service/worker_api.json"},"experimental_bep":{"$ref":"https://remexec.invalid/schema/service/experimental_bep.json"},"build_events":{"$ref":"https://remexec.invalid/schema/service/build_events.json"},"pages":{"$ref":"https://remexec.invalid/schema/service/pages.json"},"admin":{"$ref":"https://remexec.invalid/schema/service/admin.json"},"metrics":{"$ref":"https://remexec.invalid/schema/service/metrics.json"},"health":{"$ref":"https://remexec.invalid/schema/service/health.json"},"health_status":{"description":"Another spelling of `health`.","x-alias-of":"health","x-alias-is-fine":true,"$ref":"https://remexec.invalid/schema/service/health.json"},"experimental_prometheus":{"description":"No longer used.","deprecated":true,"x-ignored":true}},"additionalProperties":false};
const schema107 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/service/cas.json","title":"cas","description":"Content addressable storage for one instance. ByteStream and Capabilities for the instance come with it.","type":"object","properties":{"instance_name":{"description":"The name clients send to reach this entry; may be empty and may have several segments, as in `team/main`. `*` serves every name that has no entry of its own in this list.","type":"string","default":"","x-instance":true},"cas_store":{"description":"The store of its blobs.","type":"string","x-names":"stores"},"experimental_chunking":{"title":"Chunking","description":"Serve SplitBlob and SpliceBlob, and announce how blobs are cut. Clients then transfer only the changed chunks of a large blob. For ten minutes after a SplitBlob answer the server touches its chunks every 30 seconds, so that a store evicts them only if it takes in more than its own size within 30 seconds. It does not touch stores that do not evict by use (object stores).","type":"object","properties":{"index_store":{"description":"The store of the chunk lists, so that a blob is split once; the chunks themselves go to `cas_store`. It may be any store, also `cas_store`: no client can name the keys of lists. Without it each SplitBlob splits the blob again. The same holds if `cas_store` is a `grpc` store.","type":"string","x-names":"stores"},"chunking_function":{"description":"How blobs are cut: `fast_cdc_2020`, which all clients have that chunk at all, or `rep_max_cdc`, whose chunks differ less in size and which Bazel has from 9.3 on. Cutting by it costs about three times the CPU. A change does not invalidate what is stored, but chunks cut the other way are not shared.","type":"string","enum":["fast_cdc_2020","rep_max_cdc"],"default":"fast_cdc_2020"},"avg_chunk_size_bytes":{"description":"Target chunk size of `fast_cdc_2020`, from 1 KiB to 1 MiB. Chunks have a quarter of it to four times as much. Blobs of up to four times this size should not be chunked.","type":["integer","string"],"x-value":"size","default":524288,"x-zero-is-default":true},"min_chunk_size_bytes":{"description":"Smallest chunk of `rep_max_cdc`, from 1 KiB to 1 MiB. Chunks have less than twice that.","type":["integer","string"],"x-value":"size","default":262144,"x-zero-is-default":true},"horizon_size_bytes":{"description":"How far `rep_max_cdc` looks for the best end of a chunk, at most 16 MiB. Default: eight times `min_chunk_size_bytes`.","type":["integer","string"],"x-value":"size","minimum":0,"maximum":16777216},"max_chunk_count":{"description":"Most chunks of a blob. A blob that would have more is neither split nor spliced.","type":["integer","string"],"x-value":"count","minimum":0,"default":50000,"x-zero-is-default":true}},"additionalProperties":false}},"additionalProperties":false,"x-lenient":"array","required":["cas_store"]};

function validate238(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/service/cas.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate238.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.cas_store === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "cas_store"},message:"must have required property '"+"cas_store"+"'",schema:schema107.required,parentSchema:schema107,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(((key0 === "instance_name") || (key0 === "cas_store")) || (key0 === "experimental_chunking"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema107,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.instance_name !== undefined){
let data0 = data.instance_name;
if(typeof data0 !== "string"){
const err2 = {instancePath:instancePath+"/instance_name",schemaPath:"#/properties/instance_name/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema107.properties.instance_name.type,parentSchema:schema107.properties.instance_name,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.cas_store !== undefined){
let data1 = data.cas_store;
if(typeof data1 !== "string"){
const err3 = {instancePath:instancePath+"/cas_store",schemaPath:"#/properties/cas_store/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema107.properties.cas_store.type,parentSchema:schema107.properties.cas_store,data:data1};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.experimental_chunking !== undefined){
let data2 = data.experimental_chunking;
if(data2 && typeof data2 == "object" && !Array.isArray(data2)){
for(const key1 in data2){
if(!((((((key1 === "index_store") || (key1 === "chunking_function")) || (key1 === "avg_chunk_size_bytes")) || (key1 === "min_chunk_size_bytes")) || (key1 === "horizon_size_bytes")) || (key1 === "max_chunk_count"))){
const err4 = {instancePath:instancePath+"/experimental_chunking",schemaPath:"#/properties/experimental_chunking/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key1},message:"must NOT have additional properties",schema:false,parentSchema:schema107.properties.experimental_chunking,data:data2};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data2.index_store !== undefined){
let data3 = data2.index_store;
if(typeof data3 !== "string"){
const err5 = {instancePath:instancePath+"/experimental_chunking/index_store",schemaPath:"#/properties/experimental_chunking/properties/index_store/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema107.properties.experimental_chunking.properties.index_store.type,parentSchema:schema107.properties.experimental_chunking.properties.index_store,data:data3};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data2.chunking_function !== undefined){
let data4 = data2.chunking_function;
if(typeof data4 !== "string"){
const err6 = {instancePath:instancePath+"/experimental_chunking/chunking_function",schemaPath:"#/properties/experimental_chunking/properties/chunking_function/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema107.properties.experimental_chunking.properties.chunking_function.type,parentSchema:schema107.properties.experimental_chunking.properties.chunking_function,data:data4};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if(!((data4 === "fast_cdc_2020") || (data4 === "rep_max_cdc"))){
const err7 = {instancePath:instancePath+"/experimental_chunking/chunking_function",schemaPath:"#/properties/experimental_chunking/properties/chunking_function/enum",keyword:"enum",params:{allowedValues: schema107.properties.experimental_chunking.properties.chunking_function.enum},message:"must be equal to one of the allowed values",schema:schema107.properties.experimental_chunking.properties.chunking_function.enum,parentSchema:schema107.properties.experimental_chunking.properties.chunking_function,data:data4};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
if(data2.avg_chunk_size_bytes !== undefined){
let data5 = data2.avg_chunk_size_bytes;
if((!(((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5))) && (isFinite(data5)))) && (typeof data5 !== "string")){
const err8 = {instancePath:instancePath+"/experimental_chunking/avg_chunk_size_bytes",schemaPath:"#/properties/experimental_chunking/properties/avg_chunk_size_bytes/type",keyword:"type",params:{type: schema107.properties.experimental_chunking.properties.avg_chunk_size_bytes.type},message:"must be integer,string",schema:schema107.properties.experimental_chunking.properties.avg_chunk_size_bytes.type,parentSchema:schema107.properties.experimental_chunking.properties.avg_chunk_size_bytes,data:data5};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
const reason0 = checkScalar.call(this, "size", data5, schema107.properties.experimental_chunking.properties.avg_chunk_size_bytes, instancePath+"/experimental_chunking/avg_chunk_size_bytes");
if(reason0 !== undefined){
const err9 = {instancePath:instancePath+"/experimental_chunking/avg_chunk_size_bytes",schemaPath:"#/properties/experimental_chunking/properties/avg_chunk_size_bytes/x-value",keyword:"x-value",params:{},message:reason0,schema:"size",parentSchema:schema107.properties.experimental_chunking.properties.avg_chunk_size_bytes,data:data5};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
if(data2.min_chunk_size_bytes !== undefined){
let data6 = data2.min_chunk_size_bytes;
if((!(((typeof data6 == "number") && (!(data6 % 1) && !isNaN(data6))) && (isFinite(data6)))) && (typeof data6 !== "string")){
const err10 = {instancePath:instancePath+"/experimental_chunking/min_chunk_size_bytes",schemaPath:"#/properties/experimental_chunking/properties/min_chunk_size_bytes/type",keyword:"type",params:{type: schema107.properties.experimental_chunking.properties.min_chunk_size_bytes.type},message:"must be integer,string",schema:schema107.properties.experimental_chunking.properties.min_chunk_size_bytes.type,parentSchema:schema107.properties.experimental_chunking.properties.min_chunk_size_bytes,data:data6};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
const reason1 = checkScalar.call(this, "size", data6, schema107.properties.experimental_chunking.properties.min_chunk_size_bytes, instancePath+"/experimental_chunking/min_chunk_size_bytes");
if(reason1 !== undefined){
const err11 = {instancePath:instancePath+"/experimental_chunking/min_chunk_size_bytes",schemaPath:"#/properties/experimental_chunking/properties/min_chunk_size_bytes/x-value",keyword:"x-value",params:{},message:reason1,schema:"size",parentSchema:schema107.properties.experimental_chunking.properties.min_chunk_size_bytes,data:data6};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
if(data2.horizon_size_bytes !== undefined){
let data7 = data2.horizon_size_bytes;
if((!(((typeof data7 == "number") && (!(data7 % 1) && !isNaN(data7))) && (isFinite(data7)))) && (typeof data7 !== "string")){
const err12 = {instancePath:instancePath+"/experimental_chunking/horizon_size_bytes",schemaPath:"#/properties/experimental_chunking/properties/horizon_size_bytes/type",keyword:"type",params:{type: schema107.properties.experimental_chunking.properties.horizon_size_bytes.type},message:"must be integer,string",schema:schema107.properties.experimental_chunking.properties.horizon_size_bytes.type,parentSchema:schema107.properties.experimental_chunking.properties.horizon_size_bytes,data:data7};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
const reason2 = checkScalar.call(this, "size", data7, schema107.properties.experimental_chunking.properties.horizon_size_bytes, instancePath+"/experimental_chunking/horizon_size_bytes");
if(reason2 !== undefined){
const err13 = {instancePath:instancePath+"/experimental_chunking/horizon_size_bytes",schemaPath:"#/properties/experimental_chunking/properties/horizon_size_bytes/x-value",keyword:"x-value",params:{},message:reason2,schema:"size",parentSchema:schema107.properties.experimental_chunking.properties.horizon_size_bytes,data:data7};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
if((typeof data7 == "number") && (isFinite(data7))){
if(data7 > 16777216 || isNaN(data7)){
const err14 = {instancePath:instancePath+"/experimental_chunking/horizon_size_bytes",schemaPath:"#/properties/experimental_chunking/properties/horizon_size_bytes/maximum",keyword:"maximum",params:{comparison: "<=", limit: 16777216},message:"must be <= 16777216",schema:16777216,parentSchema:schema107.properties.experimental_chunking.properties.horizon_size_bytes,data:data7};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
if(data7 < 0 || isNaN(data7)){
const err15 = {instancePath:instancePath+"/experimental_chunking/horizon_size_bytes",schemaPath:"#/properties/experimental_chunking/properties/horizon_size_bytes/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema107.properties.experimental_chunking.properties.horizon_size_bytes,data:data7};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
}
if(data2.max_chunk_count !== undefined){
let data8 = data2.max_chunk_count;
if((!(((typeof data8 == "number") && (!(data8 % 1) && !isNaN(data8))) && (isFinite(data8)))) && (typeof data8 !== "string")){
const err16 = {instancePath:instancePath+"/experimental_chunking/max_chunk_count",schemaPath:"#/properties/experimental_chunking/properties/max_chunk_count/type",keyword:"type",params:{type: schema107.properties.experimental_chunking.properties.max_chunk_count.type},message:"must be integer,string",schema:schema107.properties.experimental_chunking.properties.max_chunk_count.type,parentSchema:schema107.properties.experimental_chunking.properties.max_chunk_count,data:data8};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
const reason3 = checkScalar.call(this, "count", data8, schema107.properties.experimental_chunking.properties.max_chunk_count, instancePath+"/experimental_chunking/max_chunk_count");
if(reason3 !== undefined){
const err17 = {instancePath:instancePath+"/experimental_chunking/max_chunk_count",schemaPath:"#/properties/experimental_chunking/properties/max_chunk_count/x-value",keyword:"x-value",params:{},message:reason3,schema:"count",parentSchema:schema107.properties.experimental_chunking.properties.max_chunk_count,data:data8};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
if((typeof data8 == "number") && (isFinite(data8))){
if(data8 < 0 || isNaN(data8)){
const err18 = {instancePath:instancePath+"/experimental_chunking/max_chunk_count",schemaPath:"#/properties/experimental_chunking/properties/max_chunk_count/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema107.properties.experimental_chunking.properties.max_chunk_count,data:data8};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
}
}
}
else {
const err19 = {instancePath:instancePath+"/experimental_chunking",schemaPath:"#/properties/experimental_chunking/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema107.properties.experimental_chunking.type,parentSchema:schema107.properties.experimental_chunking,data:data2};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
}
}
else {
const err20 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema107.type,parentSchema:schema107,data};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
validate238.errors = vErrors;
return errors === 0;
}
validate238.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema108 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/service/ac.json","title":"ac","description":"The action cache of one instance.","type":"object","properties":{"instance_name":{"description":"The name clients send to reach this entry; may be empty and may have several segments, as in `team/main`. `*` serves every name that has no entry of its own in this list.","type":"string","default":"","x-instance":true},"ac_store":{"description":"The store of its results; not the store of its blobs.","type":"string","x-names":"stores"},"read_only":{"description":"Reject UpdateActionResult from clients. Results of executions are still stored.","type":["boolean","string"],"x-value":"bool","default":false}},"additionalProperties":false,"x-lenient":"array","required":["ac_store"]};

function validate241(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/service/ac.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate241.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.ac_store === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "ac_store"},message:"must have required property '"+"ac_store"+"'",schema:schema108.required,parentSchema:schema108,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(((key0 === "instance_name") || (key0 === "ac_store")) || (key0 === "read_only"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema108,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.instance_name !== undefined){
let data0 = data.instance_name;
if(typeof data0 !== "string"){
const err2 = {instancePath:instancePath+"/instance_name",schemaPath:"#/properties/instance_name/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema108.properties.instance_name.type,parentSchema:schema108.properties.instance_name,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.ac_store !== undefined){
let data1 = data.ac_store;
if(typeof data1 !== "string"){
const err3 = {instancePath:instancePath+"/ac_store",schemaPath:"#/properties/ac_store/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema108.properties.ac_store.type,parentSchema:schema108.properties.ac_store,data:data1};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.read_only !== undefined){
let data2 = data.read_only;
if((typeof data2 !== "boolean") && (typeof data2 !== "string")){
const err4 = {instancePath:instancePath+"/read_only",schemaPath:"#/properties/read_only/type",keyword:"type",params:{type: schema108.properties.read_only.type},message:"must be boolean,string",schema:schema108.properties.read_only.type,parentSchema:schema108.properties.read_only,data:data2};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
const reason0 = checkScalar.call(this, "bool", data2, schema108.properties.read_only, instancePath+"/read_only");
if(reason0 !== undefined){
const err5 = {instancePath:instancePath+"/read_only",schemaPath:"#/properties/read_only/x-value",keyword:"x-value",params:{},message:reason0,schema:"bool",parentSchema:schema108.properties.read_only,data:data2};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
}
else {
const err6 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema108.type,parentSchema:schema108,data};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
validate241.errors = vErrors;
return errors === 0;
}
validate241.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema109 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/service/capabilities.json","title":"capabilities","description":"The answer of GetCapabilities for one instance. Every instance named by another service has it without configuration.","type":"object","properties":{"instance_name":{"description":"The name clients send to reach this entry; may be empty and may have several segments, as in `team/main`. `*` serves every name that has no entry of its own in this list.","type":"string","default":"","x-instance":true},"remote_execution":{"title":"RemoteExecution","description":"Announce remote execution. Left out: announced when the instance has `execution`.","type":"object","properties":{"scheduler":{"description":"The scheduler whose platform properties are announced.","type":"string","x-names":"schedulers"}},"additionalProperties":false,"required":["scheduler"]},"remote_cache_compression":{"description":"Announce the compressors clients may use for transfers.","type":["boolean","string"],"x-value":"bool","default":true,"x-nativelink-default":"`false`"}},"additionalProperties":false,"x-lenient":"array"};

function validate244(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/service/capabilities.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate244.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!(((key0 === "instance_name") || (key0 === "remote_execution")) || (key0 === "remote_cache_compression"))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema109,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.instance_name !== undefined){
let data0 = data.instance_name;
if(typeof data0 !== "string"){
const err1 = {instancePath:instancePath+"/instance_name",schemaPath:"#/properties/instance_name/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema109.properties.instance_name.type,parentSchema:schema109.properties.instance_name,data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.remote_execution !== undefined){
let data1 = data.remote_execution;
if(data1 && typeof data1 == "object" && !Array.isArray(data1)){
if(data1.scheduler === undefined){
const err2 = {instancePath:instancePath+"/remote_execution",schemaPath:"#/properties/remote_execution/required",keyword:"required",params:{missingProperty: "scheduler"},message:"must have required property '"+"scheduler"+"'",schema:schema109.properties.remote_execution.required,parentSchema:schema109.properties.remote_execution,data:data1};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
for(const key1 in data1){
if(!(key1 === "scheduler")){
const err3 = {instancePath:instancePath+"/remote_execution",schemaPath:"#/properties/remote_execution/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key1},message:"must NOT have additional properties",schema:false,parentSchema:schema109.properties.remote_execution,data:data1};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data1.scheduler !== undefined){
let data2 = data1.scheduler;
if(typeof data2 !== "string"){
const err4 = {instancePath:instancePath+"/remote_execution/scheduler",schemaPath:"#/properties/remote_execution/properties/scheduler/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema109.properties.remote_execution.properties.scheduler.type,parentSchema:schema109.properties.remote_execution.properties.scheduler,data:data2};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
}
else {
const err5 = {instancePath:instancePath+"/remote_execution",schemaPath:"#/properties/remote_execution/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema109.properties.remote_execution.type,parentSchema:schema109.properties.remote_execution,data:data1};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data.remote_cache_compression !== undefined){
let data3 = data.remote_cache_compression;
if((typeof data3 !== "boolean") && (typeof data3 !== "string")){
const err6 = {instancePath:instancePath+"/remote_cache_compression",schemaPath:"#/properties/remote_cache_compression/type",keyword:"type",params:{type: schema109.properties.remote_cache_compression.type},message:"must be boolean,string",schema:schema109.properties.remote_cache_compression.type,parentSchema:schema109.properties.remote_cache_compression,data:data3};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
const reason0 = checkScalar.call(this, "bool", data3, schema109.properties.remote_cache_compression, instancePath+"/remote_cache_compression");
if(reason0 !== undefined){
const err7 = {instancePath:instancePath+"/remote_cache_compression",schemaPath:"#/properties/remote_cache_compression/x-value",keyword:"x-value",params:{},message:reason0,schema:"bool",parentSchema:schema109.properties.remote_cache_compression,data:data3};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
}
else {
const err8 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema109.type,parentSchema:schema109,data};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
validate244.errors = vErrors;
return errors === 0;
}
validate244.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema110 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/service/execution.json","title":"execution","description":"Remote execution for one instance.","type":"object","properties":{"instance_name":{"description":"The name clients send to reach this entry; may be empty and may have several segments, as in `team/main`. `*` serves every name that has no entry of its own in this list.","type":"string","default":"","x-instance":true},"cas_store":{"description":"The store of its actions and inputs.","type":"string","x-names":"stores"},"scheduler":{"description":"The scheduler that runs its actions.","type":"string","x-names":"schedulers"}},"additionalProperties":false,"x-lenient":"array","required":["cas_store","scheduler"]};

function validate247(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/service/execution.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate247.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.cas_store === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "cas_store"},message:"must have required property '"+"cas_store"+"'",schema:schema110.required,parentSchema:schema110,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.scheduler === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "scheduler"},message:"must have required property '"+"scheduler"+"'",schema:schema110.required,parentSchema:schema110,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
for(const key0 in data){
if(!(((key0 === "instance_name") || (key0 === "cas_store")) || (key0 === "scheduler"))){
const err2 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema110,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.instance_name !== undefined){
let data0 = data.instance_name;
if(typeof data0 !== "string"){
const err3 = {instancePath:instancePath+"/instance_name",schemaPath:"#/properties/instance_name/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema110.properties.instance_name.type,parentSchema:schema110.properties.instance_name,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.cas_store !== undefined){
let data1 = data.cas_store;
if(typeof data1 !== "string"){
const err4 = {instancePath:instancePath+"/cas_store",schemaPath:"#/properties/cas_store/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema110.properties.cas_store.type,parentSchema:schema110.properties.cas_store,data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.scheduler !== undefined){
let data2 = data.scheduler;
if(typeof data2 !== "string"){
const err5 = {instancePath:instancePath+"/scheduler",schemaPath:"#/properties/scheduler/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema110.properties.scheduler.type,parentSchema:schema110.properties.scheduler,data:data2};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
}
else {
const err6 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema110.type,parentSchema:schema110,data};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
validate247.errors = vErrors;
return errors === 0;
}
validate247.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema111 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/service/bytestream.json","title":"bytestream","description":"Reads and writes of single blobs for one instance. An instance with `cas` has it without configuration.","type":"object","properties":{"instance_name":{"description":"The name clients send to reach this entry; may be empty and may have several segments, as in `team/main`. `*` serves every name that has no entry of its own in this list.","type":"string","default":"","x-instance":true},"cas_store":{"description":"The store of its blobs.","type":"string","x-names":"stores"},"max_bytes_per_stream":{"description":"Most bytes of a blob in one message of a read. Larger messages cost less CPU and hold more memory per stream.","type":["integer","string"],"x-value":"size","default":262144,"x-zero-is-default":true,"maximum":4000000,"x-nativelink-default":"64 KiB"},"persist_stream_on_disconnect_timeout_s":{"description":"Seconds an interrupted upload can be resumed.","type":["integer","string"],"x-value":"duration","default":60,"x-zero-is-default":true},"persist_stream_on_disconnect_timeout":{"description":"Older spelling of `persist_stream_on_disconnect_timeout_s`.","deprecated":true,"x-alias-of":"persist_stream_on_disconnect_timeout_s","$ref":"https://remexec.invalid/schema/service/bytestream.json#/properties/persist_stream_on_disconnect_timeout_s"}},"additionalProperties":false,"x-lenient":"array","required":["cas_store"]};
const schema112 = {"description":"Seconds an interrupted upload can be resumed.","type":["integer","string"],"x-value":"duration","default":60,"x-zero-is-default":true};

function validate251(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate251.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if((!(((typeof data == "number") && (!(data % 1) && !isNaN(data))) && (isFinite(data)))) && (typeof data !== "string")){
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: schema112.type},message:"must be integer,string",schema:schema112.type,parentSchema:schema112,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
const reason0 = checkScalar.call(this, "duration", data, schema112, instancePath);
if(reason0 !== undefined){
const err1 = {instancePath,schemaPath:"#/x-value",keyword:"x-value",params:{},message:reason0,schema:"duration",parentSchema:schema112,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate251.errors = vErrors;
return errors === 0;
}
validate251.evaluated = {"dynamicProps":false,"dynamicItems":false};


function validate250(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/service/bytestream.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate250.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.cas_store === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "cas_store"},message:"must have required property '"+"cas_store"+"'",schema:schema111.required,parentSchema:schema111,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(((((key0 === "instance_name") || (key0 === "cas_store")) || (key0 === "max_bytes_per_stream")) || (key0 === "persist_stream_on_disconnect_timeout_s")) || (key0 === "persist_stream_on_disconnect_timeout"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema111,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.instance_name !== undefined){
let data0 = data.instance_name;
if(typeof data0 !== "string"){
const err2 = {instancePath:instancePath+"/instance_name",schemaPath:"#/properties/instance_name/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema111.properties.instance_name.type,parentSchema:schema111.properties.instance_name,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.cas_store !== undefined){
let data1 = data.cas_store;
if(typeof data1 !== "string"){
const err3 = {instancePath:instancePath+"/cas_store",schemaPath:"#/properties/cas_store/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema111.properties.cas_store.type,parentSchema:schema111.properties.cas_store,data:data1};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.max_bytes_per_stream !== undefined){
let data2 = data.max_bytes_per_stream;
if((!(((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2))) && (isFinite(data2)))) && (typeof data2 !== "string")){
const err4 = {instancePath:instancePath+"/max_bytes_per_stream",schemaPath:"#/properties/max_bytes_per_stream/type",keyword:"type",params:{type: schema111.properties.max_bytes_per_stream.type},message:"must be integer,string",schema:schema111.properties.max_bytes_per_stream.type,parentSchema:schema111.properties.max_bytes_per_stream,data:data2};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
const reason0 = checkScalar.call(this, "size", data2, schema111.properties.max_bytes_per_stream, instancePath+"/max_bytes_per_stream");
if(reason0 !== undefined){
const err5 = {instancePath:instancePath+"/max_bytes_per_stream",schemaPath:"#/properties/max_bytes_per_stream/x-value",keyword:"x-value",params:{},message:reason0,schema:"size",parentSchema:schema111.properties.max_bytes_per_stream,data:data2};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if((typeof data2 == "number") && (isFinite(data2))){
if(data2 > 4000000 || isNaN(data2)){
const err6 = {instancePath:instancePath+"/max_bytes_per_stream",schemaPath:"#/properties/max_bytes_per_stream/maximum",keyword:"maximum",params:{comparison: "<=", limit: 4000000},message:"must be <= 4000000",schema:4000000,parentSchema:schema111.properties.max_bytes_per_stream,data:data2};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
}
if(data.persist_stream_on_disconnect_timeout_s !== undefined){
let data3 = data.persist_stream_on_disconnect_timeout_s;
if((!(((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3))) && (isFinite(data3)))) && (typeof data3 !== "string")){
const err7 = {instancePath:instancePath+"/persist_stream_on_disconnect_timeout_s",schemaPath:"#/properties/persist_stream_on_disconnect_timeout_s/type",keyword:"type",params:{type: schema111.properties.persist_stream_on_disconnect_timeout_s.type},message:"must be integer,string",schema:schema111.properties.persist_stream_on_disconnect_timeout_s.type,parentSchema:schema111.properties.persist_stream_on_disconnect_timeout_s,data:data3};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
const reason1 = checkScalar.call(this, "duration", data3, schema111.properties.persist_stream_on_disconnect_timeout_s, instancePath+"/persist_stream_on_disconnect_timeout_s");
if(reason1 !== undefined){
const err8 = {instancePath:instancePath+"/persist_stream_on_disconnect_timeout_s",schemaPath:"#/properties/persist_stream_on_disconnect_timeout_s/x-value",keyword:"x-value",params:{},message:reason1,schema:"duration",parentSchema:schema111.properties.persist_stream_on_disconnect_timeout_s,data:data3};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
if(data.persist_stream_on_disconnect_timeout !== undefined){
if(!(validate251.call(this, data.persist_stream_on_disconnect_timeout, {instancePath:instancePath+"/persist_stream_on_disconnect_timeout",parentData:data,parentDataProperty:"persist_stream_on_disconnect_timeout",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate251.errors);
errors = vErrors.length;
}
}
}
else {
const err9 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema111.type,parentSchema:schema111,data};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
validate250.errors = vErrors;
return errors === 0;
}
validate250.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema113 = {"description":"Most bytes of a blob in one message of a read. Larger messages cost less CPU and hold more memory per stream.","type":["integer","string"],"x-value":"size","default":262144,"x-zero-is-default":true,"maximum":4000000,"x-nativelink-default":"64 KiB"};

function validate255(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate255.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if((!(((typeof data == "number") && (!(data % 1) && !isNaN(data))) && (isFinite(data)))) && (typeof data !== "string")){
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: schema113.type},message:"must be integer,string",schema:schema113.type,parentSchema:schema113,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
const reason0 = checkScalar.call(this, "size", data, schema113, instancePath);
if(reason0 !== undefined){
const err1 = {instancePath,schemaPath:"#/x-value",keyword:"x-value",params:{},message:reason0,schema:"size",parentSchema:schema113,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if((typeof data == "number") && (isFinite(data))){
if(data > 4000000 || isNaN(data)){
const err2 = {instancePath,schemaPath:"#/maximum",keyword:"maximum",params:{comparison: "<=", limit: 4000000},message:"must be <= 4000000",schema:4000000,parentSchema:schema113,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
validate255.errors = vErrors;
return errors === 0;
}
validate255.evaluated = {"dynamicProps":false,"dynamicItems":false};


function validate257(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate257.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if((!(((typeof data == "number") && (!(data % 1) && !isNaN(data))) && (isFinite(data)))) && (typeof data !== "string")){
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: schema112.type},message:"must be integer,string",schema:schema112.type,parentSchema:schema112,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
const reason0 = checkScalar.call(this, "duration", data, schema112, instancePath);
if(reason0 !== undefined){
const err1 = {instancePath,schemaPath:"#/x-value",keyword:"x-value",params:{},message:reason0,schema:"duration",parentSchema:schema112,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate257.errors = vErrors;
return errors === 0;
}
validate257.evaluated = {"dynamicProps":false,"dynamicItems":false};


function validate259(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate259.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if((!(((typeof data == "number") && (!(data % 1) && !isNaN(data))) && (isFinite(data)))) && (typeof data !== "string")){
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: schema112.type},message:"must be integer,string",schema:schema112.type,parentSchema:schema112,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
const reason0 = checkScalar.call(this, "duration", data, schema112, instancePath);
if(reason0 !== undefined){
const err1 = {instancePath,schemaPath:"#/x-value",keyword:"x-value",params:{},message:reason0,schema:"duration",parentSchema:schema112,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate259.errors = vErrors;
return errors === 0;
}
validate259.evaluated = {"dynamicProps":false,"dynamicItems":false};

const schema116 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/service/fetch.json","title":"fetch","description":"Remote Asset Fetch for one instance: content by URI, for Bazel's `--experimental_remote_downloader`, BuildStream and Please.","type":"object","properties":{"instance_name":{"description":"The name clients send to reach this entry; may be empty and may have several segments, as in `team/main`. `*` serves every name that has no entry of its own in this list.","type":"string","default":"","x-instance":true},"fetch_store":{"description":"Where it is noted which digest an asset has, under keys that no client can name. The content itself is in the CAS of the instance. It may be the store of its blobs or of its results, and the `push_store` of the instance. Over a `grpc` store it needs type `ac` with `record_secret`.","type":"string","x-names":"stores"},"download":{"title":"Download","description":"Download assets that nobody has pushed. Without it, Fetch only knows what was pushed. The instance needs a `cas` on the same server.","type":"object","properties":{"allow":{"description":"Hosts to download from: `example.com`, `*.example.com` for every name below it, or `*` for all.","type":"array","minItems":1,"items":{"type":"string"}},"deny":{"description":"Hosts never to download from, in the same form. Takes precedence over `allow`.","type":"array","items":{"type":"string"},"default":[]},"allow_addresses":{"description":"Addresses and networks to connect to besides public ones: `10.1.2.3`, `10.0.0.0/8`. Without it, hosts whose addresses are private, link-local or of this machine are refused, after each redirect again, because a client could otherwise use the server to reach services that trust it.","type":"array","items":{"type":"string"},"default":[]},"ports":{"description":"Ports to connect to.","type":"array","minItems":1,"items":{"type":["integer","string"],"x-value":"count","minimum":1,"maximum":65535},"default":[80,443]},"max_size":{"description":"The largest download.","type":["integer","string"],"x-value":"size","minimum":1,"default":4294967296},"timeout_s":{"description":"The longest download. A client may ask for less.","type":["integer","string"],"x-value":"duration","minimum":1,"default":600},"idle_timeout_s":{"description":"How long an origin may be silent.","type":["integer","string"],"x-value":"duration","minimum":1,"default":30},"max_redirects":{"description":"Most redirects of one download.","type":["integer","string"],"x-value":"count","minimum":0,"default":10},"max_concurrent":{"description":"Downloads of the instance at a time; more wait. A client (an identity, or an address) has as many of them as are free beside: alone at most half, so that slow origins of one do not stop the downloads of others. A download that no client waits for any more goes on until another waits for a turn.","type":["integer","string"],"x-value":"count","minimum":1,"default":16},"without_checksum":{"description":"What to do for a client that names no checksum (`checksum.sri`). `revalidate`: ask the origin each time, and download what has changed. `reuse`: answer with what was downloaded before, as long as the client accepts its age: faster, and wrong once the origin changes the content. `refuse`: download nothing without a checksum.","enum":["revalidate","reuse","refuse"],"default":"revalidate"},"proxy":{"description":"URL of an HTTP proxy for all downloads: `http://proxy:3128`. The proxy then resolves the names of hosts, so it has to keep clients away from private addresses. Left out: the proxy of `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, if there is one; names that this machine can look up are then checked here too.","type":"string"}},"required":["allow"],"additionalProperties":false}},"additionalProperties":false,"x-lenient":"array","required":["fetch_store"]};

function validate261(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/service/fetch.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate261.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.fetch_store === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "fetch_store"},message:"must have required property '"+"fetch_store"+"'",schema:schema116.required,parentSchema:schema116,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(((key0 === "instance_name") || (key0 === "fetch_store")) || (key0 === "download"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema116,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.instance_name !== undefined){
let data0 = data.instance_name;
if(typeof data0 !== "string"){
const err2 = {instancePath:instancePath+"/instance_name",schemaPath:"#/properties/instance_name/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema116.properties.instance_name.type,parentSchema:schema116.properties.instance_name,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.fetch_store !== undefined){
let data1 = data.fetch_store;
if(typeof data1 !== "string"){
const err3 = {instancePath:instancePath+"/fetch_store",schemaPath:"#/properties/fetch_store/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema116.properties.fetch_store.type,parentSchema:schema116.properties.fetch_store,data:data1};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.download !== undefined){
let data2 = data.download;
if(data2 && typeof data2 == "object" && !Array.isArray(data2)){
if(data2.allow === undefined){
const err4 = {instancePath:instancePath+"/download",schemaPath:"#/properties/download/required",keyword:"required",params:{missingProperty: "allow"},message:"must have required property '"+"allow"+"'",schema:schema116.properties.download.required,parentSchema:schema116.properties.download,data:data2};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
for(const key1 in data2){
if(!(func1.call(schema116.properties.download.properties, key1))){
const err5 = {instancePath:instancePath+"/download",schemaPath:"#/properties/download/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key1},message:"must NOT have additional properties",schema:false,parentSchema:schema116.properties.download,data:data2};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data2.allow !== undefined){
let data3 = data2.allow;
if(Array.isArray(data3)){
if(data3.length < 1){
const err6 = {instancePath:instancePath+"/download/allow",schemaPath:"#/properties/download/properties/allow/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema116.properties.download.properties.allow,data:data3};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
const len0 = data3.length;
for(let i0=0; i0<len0; i0++){
let data4 = data3[i0];
if(typeof data4 !== "string"){
const err7 = {instancePath:instancePath+"/download/allow/" + i0,schemaPath:"#/properties/download/properties/allow/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema116.properties.download.properties.allow.items.type,parentSchema:schema116.properties.download.properties.allow.items,data:data4};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
}
else {
const err8 = {instancePath:instancePath+"/download/allow",schemaPath:"#/properties/download/properties/allow/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema116.properties.download.properties.allow.type,parentSchema:schema116.properties.download.properties.allow,data:data3};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
if(data2.deny !== undefined){
let data5 = data2.deny;
if(Array.isArray(data5)){
const len1 = data5.length;
for(let i1=0; i1<len1; i1++){
let data6 = data5[i1];
if(typeof data6 !== "string"){
const err9 = {instancePath:instancePath+"/download/deny/" + i1,schemaPath:"#/properties/download/properties/deny/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema116.properties.download.properties.deny.items.type,parentSchema:schema116.properties.download.properties.deny.items,data:data6};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
}
else {
const err10 = {instancePath:instancePath+"/download/deny",schemaPath:"#/properties/download/properties/deny/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema116.properties.download.properties.deny.type,parentSchema:schema116.properties.download.properties.deny,data:data5};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
if(data2.allow_addresses !== undefined){
let data7 = data2.allow_addresses;
if(Array.isArray(data7)){
const len2 = data7.length;
for(let i2=0; i2<len2; i2++){
let data8 = data7[i2];
if(typeof data8 !== "string"){
const err11 = {instancePath:instancePath+"/download/allow_addresses/" + i2,schemaPath:"#/properties/download/properties/allow_addresses/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema116.properties.download.properties.allow_addresses.items.type,parentSchema:schema116.properties.download.properties.allow_addresses.items,data:data8};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
}
else {
const err12 = {instancePath:instancePath+"/download/allow_addresses",schemaPath:"#/properties/download/properties/allow_addresses/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema116.properties.download.properties.allow_addresses.type,parentSchema:schema116.properties.download.properties.allow_addresses,data:data7};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
if(data2.ports !== undefined){
let data9 = data2.ports;
if(Array.isArray(data9)){
if(data9.length < 1){
const err13 = {instancePath:instancePath+"/download/ports",schemaPath:"#/properties/download/properties/ports/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema116.properties.download.properties.ports,data:data9};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
const len3 = data9.length;
for(let i3=0; i3<len3; i3++){
let data10 = data9[i3];
if((!(((typeof data10 == "number") && (!(data10 % 1) && !isNaN(data10))) && (isFinite(data10)))) && (typeof data10 !== "string")){
const err14 = {instancePath:instancePath+"/download/ports/" + i3,schemaPath:"#/properties/download/properties/ports/items/type",keyword:"type",params:{type: schema116.properties.download.properties.ports.items.type},message:"must be integer,string",schema:schema116.properties.download.properties.ports.items.type,parentSchema:schema116.properties.download.properties.ports.items,data:data10};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
const reason0 = checkScalar.call(this, "count", data10, schema116.properties.download.properties.ports.items, instancePath+"/download/ports/" + i3);
if(reason0 !== undefined){
const err15 = {instancePath:instancePath+"/download/ports/" + i3,schemaPath:"#/properties/download/properties/ports/items/x-value",keyword:"x-value",params:{},message:reason0,schema:"count",parentSchema:schema116.properties.download.properties.ports.items,data:data10};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
if((typeof data10 == "number") && (isFinite(data10))){
if(data10 > 65535 || isNaN(data10)){
const err16 = {instancePath:instancePath+"/download/ports/" + i3,schemaPath:"#/properties/download/properties/ports/items/maximum",keyword:"maximum",params:{comparison: "<=", limit: 65535},message:"must be <= 65535",schema:65535,parentSchema:schema116.properties.download.properties.ports.items,data:data10};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
if(data10 < 1 || isNaN(data10)){
const err17 = {instancePath:instancePath+"/download/ports/" + i3,schemaPath:"#/properties/download/properties/ports/items/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema116.properties.download.properties.ports.items,data:data10};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
}
}
}
else {
const err18 = {instancePath:instancePath+"/download/ports",schemaPath:"#/properties/download/properties/ports/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema116.properties.download.properties.ports.type,parentSchema:schema116.properties.download.properties.ports,data:data9};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
}
if(data2.max_size !== undefined){
let data11 = data2.max_size;
if((!(((typeof data11 == "number") && (!(data11 % 1) && !isNaN(data11))) && (isFinite(data11)))) && (typeof data11 !== "string")){
const err19 = {instancePath:instancePath+"/download/max_size",schemaPath:"#/properties/download/properties/max_size/type",keyword:"type",params:{type: schema116.properties.download.properties.max_size.type},message:"must be integer,string",schema:schema116.properties.download.properties.max_size.type,parentSchema:schema116.properties.download.properties.max_size,data:data11};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
const reason1 = checkScalar.call(this, "size", data11, schema116.properties.download.properties.max_size, instancePath+"/download/max_size");
if(reason1 !== undefined){
const err20 = {instancePath:instancePath+"/download/max_size",schemaPath:"#/properties/download/properties/max_size/x-value",keyword:"x-value",params:{},message:reason1,schema:"size",parentSchema:schema116.properties.download.properties.max_size,data:data11};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
if((typeof data11 == "number") && (isFinite(data11))){
if(data11 < 1 || isNaN(data11)){
const err21 = {instancePath:instancePath+"/download/max_size",schemaPath:"#/properties/download/properties/max_size/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema116.properties.download.properties.max_size,data:data11};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
}
}
if(data2.timeout_s !== undefined){
let data12 = data2.timeout_s;
if((!(((typeof data12 == "number") && (!(data12 % 1) && !isNaN(data12))) && (isFinite(data12)))) && (typeof data12 !== "string")){
const err22 = {instancePath:instancePath+"/download/timeout_s",schemaPath:"#/properties/download/properties/timeout_s/type",keyword:"type",params:{type: schema116.properties.download.properties.timeout_s.type},message:"must be integer,string",schema:schema116.properties.download.properties.timeout_s.type,parentSchema:schema116.properties.download.properties.timeout_s,data:data12};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
const reason2 = checkScalar.call(this, "duration", data12, schema116.properties.download.properties.timeout_s, instancePath+"/download/timeout_s");
if(reason2 !== undefined){
const err23 = {instancePath:instancePath+"/download/timeout_s",schemaPath:"#/properties/download/properties/timeout_s/x-value",keyword:"x-value",params:{},message:reason2,schema:"duration",parentSchema:schema116.properties.download.properties.timeout_s,data:data12};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
if((typeof data12 == "number") && (isFinite(data12))){
if(data12 < 1 || isNaN(data12)){
const err24 = {instancePath:instancePath+"/download/timeout_s",schemaPath:"#/properties/download/properties/timeout_s/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema116.properties.download.properties.timeout_s,data:data12};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
}
}
if(data2.idle_timeout_s !== undefined){
let data13 = data2.idle_timeout_s;
if((!(((typeof data13 == "number") && (!(data13 % 1) && !isNaN(data13))) && (isFinite(data13)))) && (typeof data13 !== "string")){
const err25 = {instancePath:instancePath+"/download/idle_timeout_s",schemaPath:"#/properties/download/properties/idle_timeout_s/type",keyword:"type",params:{type: schema116.properties.download.properties.idle_timeout_s.type},message:"must be integer,string",schema:schema116.properties.download.properties.idle_timeout_s.type,parentSchema:schema116.properties.download.properties.idle_timeout_s,data:data13};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
const reason3 = checkScalar.call(this, "duration", data13, schema116.properties.download.properties.idle_timeout_s, instancePath+"/download/idle_timeout_s");
if(reason3 !== undefined){
const err26 = {instancePath:instancePath+"/download/idle_timeout_s",schemaPath:"#/properties/download/properties/idle_timeout_s/x-value",keyword:"x-value",params:{},message:reason3,schema:"duration",parentSchema:schema116.properties.download.properties.idle_timeout_s,data:data13};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
if((typeof data13 == "number") && (isFinite(data13))){
if(data13 < 1 || isNaN(data13)){
const err27 = {instancePath:instancePath+"/download/idle_timeout_s",schemaPath:"#/properties/download/properties/idle_timeout_s/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema116.properties.download.properties.idle_timeout_s,data:data13};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
}
}
if(data2.max_redirects !== undefined){
let data14 = data2.max_redirects;
if((!(((typeof data14 == "number") && (!(data14 % 1) && !isNaN(data14))) && (isFinite(data14)))) && (typeof data14 !== "string")){
const err28 = {instancePath:instancePath+"/download/max_redirects",schemaPath:"#/properties/download/properties/max_redirects/type",keyword:"type",params:{type: schema116.properties.download.properties.max_redirects.type},message:"must be integer,string",schema:schema116.properties.download.properties.max_redirects.type,parentSchema:schema116.properties.download.properties.max_redirects,data:data14};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
const reason4 = checkScalar.call(this, "count", data14, schema116.properties.download.properties.max_redirects, instancePath+"/download/max_redirects");
if(reason4 !== undefined){
const err29 = {instancePath:instancePath+"/download/max_redirects",schemaPath:"#/properties/download/properties/max_redirects/x-value",keyword:"x-value",params:{},message:reason4,schema:"count",parentSchema:schema116.properties.download.properties.max_redirects,data:data14};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
if((typeof data14 == "number") && (isFinite(data14))){
if(data14 < 0 || isNaN(data14)){
const err30 = {instancePath:instancePath+"/download/max_redirects",schemaPath:"#/properties/download/properties/max_redirects/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema116.properties.download.properties.max_redirects,data:data14};
if(vErrors === null){
vErrors = [err30];
}
else {
vErrors.push(err30);
}
errors++;
}
}
}
if(data2.max_concurrent !== undefined){
let data15 = data2.max_concurrent;
if((!(((typeof data15 == "number") && (!(data15 % 1) && !isNaN(data15))) && (isFinite(data15)))) && (typeof data15 !== "string")){
const err31 = {instancePath:instancePath+"/download/max_concurrent",schemaPath:"#/properties/download/properties/max_concurrent/type",keyword:"type",params:{type: schema116.properties.download.properties.max_concurrent.type},message:"must be integer,string",schema:schema116.properties.download.properties.max_concurrent.type,parentSchema:schema116.properties.download.properties.max_concurrent,data:data15};
if(vErrors === null){
vErrors = [err31];
}
else {
vErrors.push(err31);
}
errors++;
}
const reason5 = checkScalar.call(this, "count", data15, schema116.properties.download.properties.max_concurrent, instancePath+"/download/max_concurrent");
if(reason5 !== undefined){
const err32 = {instancePath:instancePath+"/download/max_concurrent",schemaPath:"#/properties/download/properties/max_concurrent/x-value",keyword:"x-value",params:{},message:reason5,schema:"count",parentSchema:schema116.properties.download.properties.max_concurrent,data:data15};
if(vErrors === null){
vErrors = [err32];
}
else {
vErrors.push(err32);
}
errors++;
}
if((typeof data15 == "number") && (isFinite(data15))){
if(data15 < 1 || isNaN(data15)){
const err33 = {instancePath:instancePath+"/download/max_concurrent",schemaPath:"#/properties/download/properties/max_concurrent/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema116.properties.download.properties.max_concurrent,data:data15};
if(vErrors === null){
vErrors = [err33];
}
else {
vErrors.push(err33);
}
errors++;
}
}
}
if(data2.without_checksum !== undefined){
let data16 = data2.without_checksum;
if(!(((data16 === "revalidate") || (data16 === "reuse")) || (data16 === "refuse"))){
const err34 = {instancePath:instancePath+"/download/without_checksum",schemaPath:"#/properties/download/properties/without_checksum/enum",keyword:"enum",params:{allowedValues: schema116.properties.download.properties.without_checksum.enum},message:"must be equal to one of the allowed values",schema:schema116.properties.download.properties.without_checksum.enum,parentSchema:schema116.properties.download.properties.without_checksum,data:data16};
if(vErrors === null){
vErrors = [err34];
}
else {
vErrors.push(err34);
}
errors++;
}
}
if(data2.proxy !== undefined){
let data17 = data2.proxy;
if(typeof data17 !== "string"){
const err35 = {instancePath:instancePath+"/download/proxy",schemaPath:"#/properties/download/properties/proxy/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema116.properties.download.properties.proxy.type,parentSchema:schema116.properties.download.properties.proxy,data:data17};
if(vErrors === null){
vErrors = [err35];
}
else {
vErrors.push(err35);
}
errors++;
}
}
}
else {
const err36 = {instancePath:instancePath+"/download",schemaPath:"#/properties/download/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema116.properties.download.type,parentSchema:schema116.properties.download,data:data2};
if(vErrors === null){
vErrors = [err36];
}
else {
vErrors.push(err36);
}
errors++;
}
}
}
else {
const err37 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema116.type,parentSchema:schema116,data};
if(vErrors === null){
vErrors = [err37];
}
else {
vErrors.push(err37);
}
errors++;
}
validate261.errors = vErrors;
return errors === 0;
}
validate261.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema117 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/service/push.json","title":"push","description":"Remote Asset Push for one instance: clients state which content belongs to a URI, and `fetch` of the instance finds it. With `security`, a caller needs the permission `push`.","type":"object","properties":{"instance_name":{"description":"The name clients send to reach this entry; may be empty and may have several segments, as in `team/main`. `*` serves every name that has no entry of its own in this list.","type":"string","default":"","x-instance":true},"push_store":{"description":"Where it is noted which digest an asset has; as a rule the `fetch_store` of the instance, with the same conditions.","type":"string","x-names":"stores"},"read_only":{"description":"Refuse pushes.","type":["boolean","string"],"x-value":"bool","default":false}},"additionalProperties":false,"x-lenient":"array","required":["push_store"]};

function validate264(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/service/push.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate264.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.push_store === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "push_store"},message:"must have required property '"+"push_store"+"'",schema:schema117.required,parentSchema:schema117,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(((key0 === "instance_name") || (key0 === "push_store")) || (key0 === "read_only"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema117,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.instance_name !== undefined){
let data0 = data.instance_name;
if(typeof data0 !== "string"){
const err2 = {instancePath:instancePath+"/instance_name",schemaPath:"#/properties/instance_name/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema117.properties.instance_name.type,parentSchema:schema117.properties.instance_name,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.push_store !== undefined){
let data1 = data.push_store;
if(typeof data1 !== "string"){
const err3 = {instancePath:instancePath+"/push_store",schemaPath:"#/properties/push_store/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema117.properties.push_store.type,parentSchema:schema117.properties.push_store,data:data1};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.read_only !== undefined){
let data2 = data.read_only;
if((typeof data2 !== "boolean") && (typeof data2 !== "string")){
const err4 = {instancePath:instancePath+"/read_only",schemaPath:"#/properties/read_only/type",keyword:"type",params:{type: schema117.properties.read_only.type},message:"must be boolean,string",schema:schema117.properties.read_only.type,parentSchema:schema117.properties.read_only,data:data2};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
const reason0 = checkScalar.call(this, "bool", data2, schema117.properties.read_only, instancePath+"/read_only");
if(reason0 !== undefined){
const err5 = {instancePath:instancePath+"/read_only",schemaPath:"#/properties/read_only/x-value",keyword:"x-value",params:{},message:reason0,schema:"bool",parentSchema:schema117.properties.read_only,data:data2};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
}
else {
const err6 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema117.type,parentSchema:schema117,data};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
validate264.errors = vErrors;
return errors === 0;
}
validate264.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema118 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/service/http_cache.json","title":"http_cache","description":"A cache of a build tool over HTTP, on the port of the server. Its entries are in the action cache of an instance, under keys that no client can name, and its files are blobs in the CAS of that instance, so they are evicted, isolated, replicated and counted like those. Entries of different paths never meet.","type":"object","properties":{"path":{"description":"Where it begins: the key of the object form; starts with a slash. The address for the tool is the address of the server with this path. Another path is another, empty cache.","type":"string","default":"/","pattern":"^/[A-Za-z0-9._~/-]*$","x-expected":"a path of letters, digits and ._~- that starts with a slash"},"kind":{"description":"The tool. `bazel`: Bazel's HTTP cache with the additions of bazel-remote, and moon; results and blobs are those of gRPC, so `path` is not part of their names. `ccache`: all its layouts, versions 4.4 and later. `gradle`: HttpBuildCache. `turborepo`: the path is TURBO_API. `nx`: the path is NX_SELF_HOSTED_REMOTE_CACHE_SERVER. `webdav`: sccache. `go`: HTTP helpers of GOCACHEPROG. `maven`: the build cache extension. `opaque`: any tool that puts and gets files under names: Please, Metro, Rush.","type":"string","enum":["bazel","ccache","gradle","turborepo","nx","webdav","go","maven","opaque"]},"instance_name":{"description":"The instance that has its entries. The server must have `cas` for it.","type":"string","default":"","x-instance":true},"overlay_instance_name":{"description":"A shorthand of `security.scopes` for this cache: callers that may write to this instance and not to `instance_name` are in a scope of its name. They read their own entries first, then those of `instance_name`, and callers that may write to `instance_name` never read theirs (CVE-2025-36852). Needs `security`.","type":"string","x-instance":true},"max_size":{"description":"The largest file. A larger one is refused with 413, before its content is read if its length is known; Nx gets 409, because it ends with an error after 413. Left out: as large as the store and `max_blob_size` of the instance allow.","type":["integer","string"],"x-value":"size","minimum":1},"overwrite":{"description":"Which upload of a key stays: the last, or the first. With `first` a later upload is accepted and dropped; Nx gets 409, as its specification says.","type":"string","enum":["last","first"],"default":"last"},"read_only":{"description":"Refuse all uploads.","type":["boolean","string"],"x-value":"bool","default":false},"on_fault":{"description":"What a download gets if a store fails: the `error`, or a `miss`. Nx ends with an error after any other answer than a hit or a miss, and sccache does not start.","type":"string","enum":["error","miss"],"default":"miss"}},"additionalProperties":false,"required":["kind"]};
const pattern5 = new RegExp("^/[A-Za-z0-9._~/-]*$", "u");

function validate267(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/service/http_cache.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate267.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.kind === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "kind"},message:"must have required property '"+"kind"+"'",schema:schema118.required,parentSchema:schema118,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!((((((((key0 === "path") || (key0 === "kind")) || (key0 === "instance_name")) || (key0 === "overlay_instance_name")) || (key0 === "max_size")) || (key0 === "overwrite")) || (key0 === "read_only")) || (key0 === "on_fault"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema118,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.path !== undefined){
let data0 = data.path;
if(typeof data0 === "string"){
if(!pattern5.test(data0)){
const err2 = {instancePath:instancePath+"/path",schemaPath:"#/properties/path/pattern",keyword:"pattern",params:{pattern: "^/[A-Za-z0-9._~/-]*$"},message:"must match pattern \""+"^/[A-Za-z0-9._~/-]*$"+"\"",schema:"^/[A-Za-z0-9._~/-]*$",parentSchema:schema118.properties.path,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
else {
const err3 = {instancePath:instancePath+"/path",schemaPath:"#/properties/path/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema118.properties.path.type,parentSchema:schema118.properties.path,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.kind !== undefined){
let data1 = data.kind;
if(typeof data1 !== "string"){
const err4 = {instancePath:instancePath+"/kind",schemaPath:"#/properties/kind/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema118.properties.kind.type,parentSchema:schema118.properties.kind,data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
if(!(((((((((data1 === "bazel") || (data1 === "ccache")) || (data1 === "gradle")) || (data1 === "turborepo")) || (data1 === "nx")) || (data1 === "webdav")) || (data1 === "go")) || (data1 === "maven")) || (data1 === "opaque"))){
const err5 = {instancePath:instancePath+"/kind",schemaPath:"#/properties/kind/enum",keyword:"enum",params:{allowedValues: schema118.properties.kind.enum},message:"must be equal to one of the allowed values",schema:schema118.properties.kind.enum,parentSchema:schema118.properties.kind,data:data1};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data.instance_name !== undefined){
let data2 = data.instance_name;
if(typeof data2 !== "string"){
const err6 = {instancePath:instancePath+"/instance_name",schemaPath:"#/properties/instance_name/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema118.properties.instance_name.type,parentSchema:schema118.properties.instance_name,data:data2};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data.overlay_instance_name !== undefined){
let data3 = data.overlay_instance_name;
if(typeof data3 !== "string"){
const err7 = {instancePath:instancePath+"/overlay_instance_name",schemaPath:"#/properties/overlay_instance_name/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema118.properties.overlay_instance_name.type,parentSchema:schema118.properties.overlay_instance_name,data:data3};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
if(data.max_size !== undefined){
let data4 = data.max_size;
if((!(((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4))) && (isFinite(data4)))) && (typeof data4 !== "string")){
const err8 = {instancePath:instancePath+"/max_size",schemaPath:"#/properties/max_size/type",keyword:"type",params:{type: schema118.properties.max_size.type},message:"must be integer,string",schema:schema118.properties.max_size.type,parentSchema:schema118.properties.max_size,data:data4};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
const reason0 = checkScalar.call(this, "size", data4, schema118.properties.max_size, instancePath+"/max_size");
if(reason0 !== undefined){
const err9 = {instancePath:instancePath+"/max_size",schemaPath:"#/properties/max_size/x-value",keyword:"x-value",params:{},message:reason0,schema:"size",parentSchema:schema118.properties.max_size,data:data4};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
if((typeof data4 == "number") && (isFinite(data4))){
if(data4 < 1 || isNaN(data4)){
const err10 = {instancePath:instancePath+"/max_size",schemaPath:"#/properties/max_size/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema118.properties.max_size,data:data4};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
}
if(data.overwrite !== undefined){
let data5 = data.overwrite;
if(typeof data5 !== "string"){
const err11 = {instancePath:instancePath+"/overwrite",schemaPath:"#/properties/overwrite/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema118.properties.overwrite.type,parentSchema:schema118.properties.overwrite,data:data5};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
if(!((data5 === "last") || (data5 === "first"))){
const err12 = {instancePath:instancePath+"/overwrite",schemaPath:"#/properties/overwrite/enum",keyword:"enum",params:{allowedValues: schema118.properties.overwrite.enum},message:"must be equal to one of the allowed values",schema:schema118.properties.overwrite.enum,parentSchema:schema118.properties.overwrite,data:data5};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
if(data.read_only !== undefined){
let data6 = data.read_only;
if((typeof data6 !== "boolean") && (typeof data6 !== "string")){
const err13 = {instancePath:instancePath+"/read_only",schemaPath:"#/properties/read_only/type",keyword:"type",params:{type: schema118.properties.read_only.type},message:"must be boolean,string",schema:schema118.properties.read_only.type,parentSchema:schema118.properties.read_only,data:data6};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
const reason1 = checkScalar.call(this, "bool", data6, schema118.properties.read_only, instancePath+"/read_only");
if(reason1 !== undefined){
const err14 = {instancePath:instancePath+"/read_only",schemaPath:"#/properties/read_only/x-value",keyword:"x-value",params:{},message:reason1,schema:"bool",parentSchema:schema118.properties.read_only,data:data6};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
if(data.on_fault !== undefined){
let data7 = data.on_fault;
if(typeof data7 !== "string"){
const err15 = {instancePath:instancePath+"/on_fault",schemaPath:"#/properties/on_fault/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema118.properties.on_fault.type,parentSchema:schema118.properties.on_fault,data:data7};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
if(!((data7 === "error") || (data7 === "miss"))){
const err16 = {instancePath:instancePath+"/on_fault",schemaPath:"#/properties/on_fault/enum",keyword:"enum",params:{allowedValues: schema118.properties.on_fault.enum},message:"must be equal to one of the allowed values",schema:schema118.properties.on_fault.enum,parentSchema:schema118.properties.on_fault,data:data7};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
}
}
else {
const err17 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema118.type,parentSchema:schema118,data};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
validate267.errors = vErrors;
return errors === 0;
}
validate267.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema119 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/service/worker_api.json","title":"worker_api","description":"Where workers connect.","type":"object","properties":{"scheduler":{"description":"The scheduler they work for.","type":"string","x-names":"schedulers"},"disable_kill_revoked_operations":{"description":"Do not stop actions whose operation was reassigned.","type":["boolean","string"],"x-value":"bool","default":false,"x-ignored":"an action taken away from a worker is always stopped"},"kill_revoked_operations_interval_s":{"description":"Seconds between checks for such actions.","type":["integer","string"],"x-value":"duration","x-ignored":"the scheduler tells a worker at once"}},"additionalProperties":false,"required":["scheduler"]};

function validate270(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/service/worker_api.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate270.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.scheduler === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "scheduler"},message:"must have required property '"+"scheduler"+"'",schema:schema119.required,parentSchema:schema119,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(((key0 === "scheduler") || (key0 === "disable_kill_revoked_operations")) || (key0 === "kill_revoked_operations_interval_s"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema119,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.scheduler !== undefined){
let data0 = data.scheduler;
if(typeof data0 !== "string"){
const err2 = {instancePath:instancePath+"/scheduler",schemaPath:"#/properties/scheduler/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema119.properties.scheduler.type,parentSchema:schema119.properties.scheduler,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.disable_kill_revoked_operations !== undefined){
let data1 = data.disable_kill_revoked_operations;
if((typeof data1 !== "boolean") && (typeof data1 !== "string")){
const err3 = {instancePath:instancePath+"/disable_kill_revoked_operations",schemaPath:"#/properties/disable_kill_revoked_operations/type",keyword:"type",params:{type: schema119.properties.disable_kill_revoked_operations.type},message:"must be boolean,string",schema:schema119.properties.disable_kill_revoked_operations.type,parentSchema:schema119.properties.disable_kill_revoked_operations,data:data1};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
const reason0 = checkScalar.call(this, "bool", data1, schema119.properties.disable_kill_revoked_operations, instancePath+"/disable_kill_revoked_operations");
if(reason0 !== undefined){
const err4 = {instancePath:instancePath+"/disable_kill_revoked_operations",schemaPath:"#/properties/disable_kill_revoked_operations/x-value",keyword:"x-value",params:{},message:reason0,schema:"bool",parentSchema:schema119.properties.disable_kill_revoked_operations,data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.kill_revoked_operations_interval_s !== undefined){
let data2 = data.kill_revoked_operations_interval_s;
if((!(((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2))) && (isFinite(data2)))) && (typeof data2 !== "string")){
const err5 = {instancePath:instancePath+"/kill_revoked_operations_interval_s",schemaPath:"#/properties/kill_revoked_operations_interval_s/type",keyword:"type",params:{type: schema119.properties.kill_revoked_operations_interval_s.type},message:"must be integer,string",schema:schema119.properties.kill_revoked_operations_interval_s.type,parentSchema:schema119.properties.kill_revoked_operations_interval_s,data:data2};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
const reason1 = checkScalar.call(this, "duration", data2, schema119.properties.kill_revoked_operations_interval_s, instancePath+"/kill_revoked_operations_interval_s");
if(reason1 !== undefined){
const err6 = {instancePath:instancePath+"/kill_revoked_operations_interval_s",schemaPath:"#/properties/kill_revoked_operations_interval_s/x-value",keyword:"x-value",params:{},message:reason1,schema:"duration",parentSchema:schema119.properties.kill_revoked_operations_interval_s,data:data2};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
}
else {
const err7 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema119.type,parentSchema:schema119,data};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
validate270.errors = vErrors;
return errors === 0;
}
validate270.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema120 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/service/experimental_bep.json","title":"experimental_bep","description":"Takes build events as `build_events` does, with settings from a store: the folder is that of its `filesystem` store with `-build-events` behind its name, and the limits are those of its `eviction_policy`. The store itself receives nothing. Use `build_events` for new configurations.","type":"object","properties":{"store":{"description":"A store that is or contains a `filesystem` store.","type":"string","x-names":"stores"}},"additionalProperties":false,"required":["store"],"x-lenient":"always"};

function validate272(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/service/experimental_bep.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate272.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.store === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "store"},message:"must have required property '"+"store"+"'",schema:schema120.required,parentSchema:schema120,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(key0 === "store")){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema120,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.store !== undefined){
let data0 = data.store;
if(typeof data0 !== "string"){
const err2 = {instancePath:instancePath+"/store",schemaPath:"#/properties/store/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema120.properties.store.type,parentSchema:schema120.properties.store,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
}
else {
const err3 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema120.type,parentSchema:schema120,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate272.errors = vErrors;
return errors === 0;
}
validate272.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema121 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/service/build_events.json","title":"build_events","description":"Takes build events (`--bes_backend` of Bazel) and keeps them: one compressed log for each invocation, in a folder of its own. An event is acknowledged once it is on disk. The project of a request (`--bes_instance_name`) is the instance; with `security` a caller needs `write_cas`, `write_ac` or `execute` there. Several servers of one configuration may offer it with the same settings; they share the folder. docs/builds.md shows how to use it.","type":"object","properties":{"path":{"description":"Folder of the logs. No store and no work directory may share it.","type":"string","x-path":true},"max_bytes":{"description":"Most bytes of all logs. Beyond it the oldest invocations of the caller that has most are removed; those whose events still come in are kept.","type":["integer","string"],"x-value":"size","default":10737418240,"x-zero-is-default":true},"max_age_s":{"description":"Invocations whose last event is older are removed; 0 keeps them until another bound is reached.","type":["integer","string"],"x-value":"duration","minimum":0,"default":2592000},"max_invocations":{"description":"Most invocations to keep; beyond it the oldest of the caller that has most are removed. The server holds about 2 KiB of memory for each.","type":["integer","string"],"x-value":"count","minimum":1,"maximum":200000,"default":20000},"max_invocation_bytes":{"description":"Most bytes of events of one invocation, before compression. Further events are acknowledged, only their numbers and the end of the stream are kept, and the page of the invocation says how many were left out.","type":["integer","string"],"x-value":"size","default":2147483648,"x-zero-is-default":true},"max_silence_s":{"description":"A stream that brings no event for so long is ended, and the client may open it again. A build that never comes back is shown as incomplete.","type":["integer","string"],"x-value":"duration","minimum":1,"maximum":604800,"default":10800}},"additionalProperties":false,"required":["path"]};

function validate274(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/service/build_events.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate274.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.path === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "path"},message:"must have required property '"+"path"+"'",schema:schema121.required,parentSchema:schema121,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!((((((key0 === "path") || (key0 === "max_bytes")) || (key0 === "max_age_s")) || (key0 === "max_invocations")) || (key0 === "max_invocation_bytes")) || (key0 === "max_silence_s"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema121,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.path !== undefined){
let data0 = data.path;
if(typeof data0 !== "string"){
const err2 = {instancePath:instancePath+"/path",schemaPath:"#/properties/path/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema121.properties.path.type,parentSchema:schema121.properties.path,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.max_bytes !== undefined){
let data1 = data.max_bytes;
if((!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))) && (typeof data1 !== "string")){
const err3 = {instancePath:instancePath+"/max_bytes",schemaPath:"#/properties/max_bytes/type",keyword:"type",params:{type: schema121.properties.max_bytes.type},message:"must be integer,string",schema:schema121.properties.max_bytes.type,parentSchema:schema121.properties.max_bytes,data:data1};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
const reason0 = checkScalar.call(this, "size", data1, schema121.properties.max_bytes, instancePath+"/max_bytes");
if(reason0 !== undefined){
const err4 = {instancePath:instancePath+"/max_bytes",schemaPath:"#/properties/max_bytes/x-value",keyword:"x-value",params:{},message:reason0,schema:"size",parentSchema:schema121.properties.max_bytes,data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.max_age_s !== undefined){
let data2 = data.max_age_s;
if((!(((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2))) && (isFinite(data2)))) && (typeof data2 !== "string")){
const err5 = {instancePath:instancePath+"/max_age_s",schemaPath:"#/properties/max_age_s/type",keyword:"type",params:{type: schema121.properties.max_age_s.type},message:"must be integer,string",schema:schema121.properties.max_age_s.type,parentSchema:schema121.properties.max_age_s,data:data2};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
const reason1 = checkScalar.call(this, "duration", data2, schema121.properties.max_age_s, instancePath+"/max_age_s");
if(reason1 !== undefined){
const err6 = {instancePath:instancePath+"/max_age_s",schemaPath:"#/properties/max_age_s/x-value",keyword:"x-value",params:{},message:reason1,schema:"duration",parentSchema:schema121.properties.max_age_s,data:data2};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if((typeof data2 == "number") && (isFinite(data2))){
if(data2 < 0 || isNaN(data2)){
const err7 = {instancePath:instancePath+"/max_age_s",schemaPath:"#/properties/max_age_s/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema121.properties.max_age_s,data:data2};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
}
if(data.max_invocations !== undefined){
let data3 = data.max_invocations;
if((!(((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3))) && (isFinite(data3)))) && (typeof data3 !== "string")){
const err8 = {instancePath:instancePath+"/max_invocations",schemaPath:"#/properties/max_invocations/type",keyword:"type",params:{type: schema121.properties.max_invocations.type},message:"must be integer,string",schema:schema121.properties.max_invocations.type,parentSchema:schema121.properties.max_invocations,data:data3};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
const reason2 = checkScalar.call(this, "count", data3, schema121.properties.max_invocations, instancePath+"/max_invocations");
if(reason2 !== undefined){
const err9 = {instancePath:instancePath+"/max_invocations",schemaPath:"#/properties/max_invocations/x-value",keyword:"x-value",params:{},message:reason2,schema:"count",parentSchema:schema121.properties.max_invocations,data:data3};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
if((typeof data3 == "number") && (isFinite(data3))){
if(data3 > 200000 || isNaN(data3)){
const err10 = {instancePath:instancePath+"/max_invocations",schemaPath:"#/properties/max_invocations/maximum",keyword:"maximum",params:{comparison: "<=", limit: 200000},message:"must be <= 200000",schema:200000,parentSchema:schema121.properties.max_invocations,data:data3};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
if(data3 < 1 || isNaN(data3)){
const err11 = {instancePath:instancePath+"/max_invocations",schemaPath:"#/properties/max_invocations/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema121.properties.max_invocations,data:data3};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
}
if(data.max_invocation_bytes !== undefined){
let data4 = data.max_invocation_bytes;
if((!(((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4))) && (isFinite(data4)))) && (typeof data4 !== "string")){
const err12 = {instancePath:instancePath+"/max_invocation_bytes",schemaPath:"#/properties/max_invocation_bytes/type",keyword:"type",params:{type: schema121.properties.max_invocation_bytes.type},message:"must be integer,string",schema:schema121.properties.max_invocation_bytes.type,parentSchema:schema121.properties.max_invocation_bytes,data:data4};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
const reason3 = checkScalar.call(this, "size", data4, schema121.properties.max_invocation_bytes, instancePath+"/max_invocation_bytes");
if(reason3 !== undefined){
const err13 = {instancePath:instancePath+"/max_invocation_bytes",schemaPath:"#/properties/max_invocation_bytes/x-value",keyword:"x-value",params:{},message:reason3,schema:"size",parentSchema:schema121.properties.max_invocation_bytes,data:data4};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
}
if(data.max_silence_s !== undefined){
let data5 = data.max_silence_s;
if((!(((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5))) && (isFinite(data5)))) && (typeof data5 !== "string")){
const err14 = {instancePath:instancePath+"/max_silence_s",schemaPath:"#/properties/max_silence_s/type",keyword:"type",params:{type: schema121.properties.max_silence_s.type},message:"must be integer,string",schema:schema121.properties.max_silence_s.type,parentSchema:schema121.properties.max_silence_s,data:data5};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
const reason4 = checkScalar.call(this, "duration", data5, schema121.properties.max_silence_s, instancePath+"/max_silence_s");
if(reason4 !== undefined){
const err15 = {instancePath:instancePath+"/max_silence_s",schemaPath:"#/properties/max_silence_s/x-value",keyword:"x-value",params:{},message:reason4,schema:"duration",parentSchema:schema121.properties.max_silence_s,data:data5};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
if((typeof data5 == "number") && (isFinite(data5))){
if(data5 > 604800 || isNaN(data5)){
const err16 = {instancePath:instancePath+"/max_silence_s",schemaPath:"#/properties/max_silence_s/maximum",keyword:"maximum",params:{comparison: "<=", limit: 604800},message:"must be <= 604800",schema:604800,parentSchema:schema121.properties.max_silence_s,data:data5};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
if(data5 < 1 || isNaN(data5)){
const err17 = {instancePath:instancePath+"/max_silence_s",schemaPath:"#/properties/max_silence_s/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema121.properties.max_silence_s,data:data5};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
}
}
}
else {
const err18 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema121.type,parentSchema:schema121,data};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
validate274.errors = vErrors;
return errors === 0;
}
validate274.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema122 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/service/pages.json","title":"pages","description":"Pages for people: builds, their logs, tests and cache hits, actions, and the state of the server. They show builds of all servers of the configuration. Without `security` everybody who reaches the port sees them; with it a reader needs `read_ac` in the instance of a build, and logs in by a form, by the header authorization, by a client certificate or by the header of a proxy. docs/builds.md shows how to use them.","type":"object","properties":{"path":{"description":"Where they begin; starts with a slash. Other services of the port keep their paths.","type":"string","default":"/","pattern":"^/[A-Za-z0-9._~/-]*$","x-expected":"a path of letters, digits and ._~- that starts with a slash"},"address":{"description":"The address by which people reach the pages, without `path`, for example `https://builds.example.com`. Links in messages to clients begin with it; without it there are none. With `https` the session of a reader is only sent over TLS.","type":"string","pattern":"^https?://[^/?# ]+$","x-expected":"http:// or https://, a host, and nothing behind it"},"commit_url":{"description":"Where the commit of a build leads, for example `https://github.com/acme/shop/commit/{commit}`. `{commit}`, `{branch}` and `{pull_request}` are what the build says (workspace status or `--build_metadata`), percent-encoded. Without it commits are text.","type":"string","pattern":"^https?://[^ ]+$","x-expected":"http:// or https://, and {commit} in it"},"pull_request_url":{"description":"The same for the pull request of a build, which it names by `PULL_REQUEST`, `PR_NUMBER`, `CHANGE_ID` or `CI_MERGE_REQUEST_IID`: for example `https://github.com/acme/shop/pull/{pull_request}`.","type":"string","pattern":"^https?://[^ ]+$","x-expected":"http:// or https://, and {pull_request} in it"},"session_s":{"description":"How long a reader who logged in by the form stays so. Sessions also end with the process.","type":["integer","string"],"x-value":"duration","minimum":60,"maximum":2592000,"default":43200}},"additionalProperties":false};
const pattern7 = new RegExp("^https?://[^/?# ]+$", "u");
const pattern8 = new RegExp("^https?://[^ ]+$", "u");

function validate276(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/service/pages.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate276.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!(((((key0 === "path") || (key0 === "address")) || (key0 === "commit_url")) || (key0 === "pull_request_url")) || (key0 === "session_s"))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema122,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.path !== undefined){
let data0 = data.path;
if(typeof data0 === "string"){
if(!pattern5.test(data0)){
const err1 = {instancePath:instancePath+"/path",schemaPath:"#/properties/path/pattern",keyword:"pattern",params:{pattern: "^/[A-Za-z0-9._~/-]*$"},message:"must match pattern \""+"^/[A-Za-z0-9._~/-]*$"+"\"",schema:"^/[A-Za-z0-9._~/-]*$",parentSchema:schema122.properties.path,data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
else {
const err2 = {instancePath:instancePath+"/path",schemaPath:"#/properties/path/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema122.properties.path.type,parentSchema:schema122.properties.path,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.address !== undefined){
let data1 = data.address;
if(typeof data1 === "string"){
if(!pattern7.test(data1)){
const err3 = {instancePath:instancePath+"/address",schemaPath:"#/properties/address/pattern",keyword:"pattern",params:{pattern: "^https?://[^/?# ]+$"},message:"must match pattern \""+"^https?://[^/?# ]+$"+"\"",schema:"^https?://[^/?# ]+$",parentSchema:schema122.properties.address,data:data1};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
else {
const err4 = {instancePath:instancePath+"/address",schemaPath:"#/properties/address/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema122.properties.address.type,parentSchema:schema122.properties.address,data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.commit_url !== undefined){
let data2 = data.commit_url;
if(typeof data2 === "string"){
if(!pattern8.test(data2)){
const err5 = {instancePath:instancePath+"/commit_url",schemaPath:"#/properties/commit_url/pattern",keyword:"pattern",params:{pattern: "^https?://[^ ]+$"},message:"must match pattern \""+"^https?://[^ ]+$"+"\"",schema:"^https?://[^ ]+$",parentSchema:schema122.properties.commit_url,data:data2};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
else {
const err6 = {instancePath:instancePath+"/commit_url",schemaPath:"#/properties/commit_url/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema122.properties.commit_url.type,parentSchema:schema122.properties.commit_url,data:data2};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data.pull_request_url !== undefined){
let data3 = data.pull_request_url;
if(typeof data3 === "string"){
if(!pattern8.test(data3)){
const err7 = {instancePath:instancePath+"/pull_request_url",schemaPath:"#/properties/pull_request_url/pattern",keyword:"pattern",params:{pattern: "^https?://[^ ]+$"},message:"must match pattern \""+"^https?://[^ ]+$"+"\"",schema:"^https?://[^ ]+$",parentSchema:schema122.properties.pull_request_url,data:data3};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
else {
const err8 = {instancePath:instancePath+"/pull_request_url",schemaPath:"#/properties/pull_request_url/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema122.properties.pull_request_url.type,parentSchema:schema122.properties.pull_request_url,data:data3};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
if(data.session_s !== undefined){
let data4 = data.session_s;
if((!(((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4))) && (isFinite(data4)))) && (typeof data4 !== "string")){
const err9 = {instancePath:instancePath+"/session_s",schemaPath:"#/properties/session_s/type",keyword:"type",params:{type: schema122.properties.session_s.type},message:"must be integer,string",schema:schema122.properties.session_s.type,parentSchema:schema122.properties.session_s,data:data4};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
const reason0 = checkScalar.call(this, "duration", data4, schema122.properties.session_s, instancePath+"/session_s");
if(reason0 !== undefined){
const err10 = {instancePath:instancePath+"/session_s",schemaPath:"#/properties/session_s/x-value",keyword:"x-value",params:{},message:reason0,schema:"duration",parentSchema:schema122.properties.session_s,data:data4};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
if((typeof data4 == "number") && (isFinite(data4))){
if(data4 > 2592000 || isNaN(data4)){
const err11 = {instancePath:instancePath+"/session_s",schemaPath:"#/properties/session_s/maximum",keyword:"maximum",params:{comparison: "<=", limit: 2592000},message:"must be <= 2592000",schema:2592000,parentSchema:schema122.properties.session_s,data:data4};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
if(data4 < 60 || isNaN(data4)){
const err12 = {instancePath:instancePath+"/session_s",schemaPath:"#/properties/session_s/minimum",keyword:"minimum",params:{comparison: ">=", limit: 60},message:"must be >= 60",schema:60,parentSchema:schema122.properties.session_s,data:data4};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
}
}
else {
const err13 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema122.type,parentSchema:schema122,data};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
validate276.errors = vErrors;
return errors === 0;
}
validate276.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema123 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/service/admin.json","title":"admin","description":"Workers and queue as JSON over plain HTTP. `GET path` shows them, `GET path/status` and `GET path/builds?limit=50` the process and its builds: `remexec status`, `queue`, `drain`, `builds` and `rm` use this service. `GET path/demand?property=NAME=VALUE` counts what waits and runs by what it asks of a worker, for autoscalers. `GET path/blobs?kind=blobs` lists what the stores keep (`remexec ls`). `PUT` and `DELETE path/drain?scheduler=S&worker=ID` drain and undrain a worker. `DELETE path/operation?name=NAME` cancels an operation, `DELETE path/result?action=HASH-SIZE` (or `target`, or `build`) deletes results from the action cache. `PUT path/profile?seconds=10` gives a CPU profile, `PUT path/heap` a heap snapshot. Every caller may use it unless `security` limits `administer`: put it on a separate server, on an address that only operators reach.","type":"object","properties":{"path":{"description":"Its path; starts with a slash.","type":"string","default":"/admin","pattern":"^(/[!\"$->@-~]*)?$","x-expected":"a path that starts with a slash, without blanks, ? and #","x-empty-is-default":true}},"additionalProperties":false};
const pattern10 = new RegExp("^(/[!\"$->@-~]*)?$", "u");

function validate278(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/service/admin.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate278.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!(key0 === "path")){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema123,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.path !== undefined){
let data0 = data.path;
if(typeof data0 === "string"){
if(!pattern10.test(data0)){
const err1 = {instancePath:instancePath+"/path",schemaPath:"#/properties/path/pattern",keyword:"pattern",params:{pattern: "^(/[!\"$->@-~]*)?$"},message:"must match pattern \""+"^(/[!\"$->@-~]*)?$"+"\"",schema:"^(/[!\"$->@-~]*)?$",parentSchema:schema123.properties.path,data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
else {
const err2 = {instancePath:instancePath+"/path",schemaPath:"#/properties/path/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema123.properties.path.type,parentSchema:schema123.properties.path,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
}
else {
const err3 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema123.type,parentSchema:schema123,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate278.errors = vErrors;
return errors === 0;
}
validate278.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema124 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/service/metrics.json","title":"metrics","description":"A page of metrics for Prometheus, in its text form. Without this service there is none, and metrics are only sent by OTLP. With `security` it needs the permission `administer`.","type":"object","properties":{"path":{"description":"Its path; starts with a slash.","type":"string","default":"/metrics","pattern":"^(/[!\"$->@-~]*)?$","x-expected":"a path that starts with a slash, without blanks, ? and #","x-empty-is-default":true},"anonymous":{"description":"Everybody who reaches the port may read the page, also with `security`. It names stores and workers and tells how much they are used.","type":["boolean","string"],"x-value":"bool","default":false}},"additionalProperties":false};

function validate280(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/service/metrics.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate280.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!((key0 === "path") || (key0 === "anonymous"))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema124,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.path !== undefined){
let data0 = data.path;
if(typeof data0 === "string"){
if(!pattern10.test(data0)){
const err1 = {instancePath:instancePath+"/path",schemaPath:"#/properties/path/pattern",keyword:"pattern",params:{pattern: "^(/[!\"$->@-~]*)?$"},message:"must match pattern \""+"^(/[!\"$->@-~]*)?$"+"\"",schema:"^(/[!\"$->@-~]*)?$",parentSchema:schema124.properties.path,data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
else {
const err2 = {instancePath:instancePath+"/path",schemaPath:"#/properties/path/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema124.properties.path.type,parentSchema:schema124.properties.path,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.anonymous !== undefined){
let data1 = data.anonymous;
if((typeof data1 !== "boolean") && (typeof data1 !== "string")){
const err3 = {instancePath:instancePath+"/anonymous",schemaPath:"#/properties/anonymous/type",keyword:"type",params:{type: schema124.properties.anonymous.type},message:"must be boolean,string",schema:schema124.properties.anonymous.type,parentSchema:schema124.properties.anonymous,data:data1};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
const reason0 = checkScalar.call(this, "bool", data1, schema124.properties.anonymous, instancePath+"/anonymous");
if(reason0 !== undefined){
const err4 = {instancePath:instancePath+"/anonymous",schemaPath:"#/properties/anonymous/x-value",keyword:"x-value",params:{},message:reason0,schema:"bool",parentSchema:schema124.properties.anonymous,data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
}
else {
const err5 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema124.type,parentSchema:schema124,data};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
validate280.errors = vErrors;
return errors === 0;
}
validate280.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema125 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/service/health.json","title":"health","description":"Plain HTTP health report on the port of the server: 200, or 503 when a component failed or did not answer in time.","type":"object","properties":{"path":{"description":"Its path; starts with a slash.","type":"string","default":"/status","pattern":"^(/[!\"$->@-~]*)?$","x-expected":"a path that starts with a slash, without blanks, ? and #","x-empty-is-default":true},"timeout_seconds":{"description":"Seconds each component has to answer.","type":["integer","string"],"x-value":"count","minimum":0,"default":5,"x-zero-is-default":true}},"additionalProperties":false};

function validate282(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/service/health.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate282.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!((key0 === "path") || (key0 === "timeout_seconds"))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema125,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.path !== undefined){
let data0 = data.path;
if(typeof data0 === "string"){
if(!pattern10.test(data0)){
const err1 = {instancePath:instancePath+"/path",schemaPath:"#/properties/path/pattern",keyword:"pattern",params:{pattern: "^(/[!\"$->@-~]*)?$"},message:"must match pattern \""+"^(/[!\"$->@-~]*)?$"+"\"",schema:"^(/[!\"$->@-~]*)?$",parentSchema:schema125.properties.path,data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
else {
const err2 = {instancePath:instancePath+"/path",schemaPath:"#/properties/path/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema125.properties.path.type,parentSchema:schema125.properties.path,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.timeout_seconds !== undefined){
let data1 = data.timeout_seconds;
if((!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))) && (typeof data1 !== "string")){
const err3 = {instancePath:instancePath+"/timeout_seconds",schemaPath:"#/properties/timeout_seconds/type",keyword:"type",params:{type: schema125.properties.timeout_seconds.type},message:"must be integer,string",schema:schema125.properties.timeout_seconds.type,parentSchema:schema125.properties.timeout_seconds,data:data1};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
const reason0 = checkScalar.call(this, "count", data1, schema125.properties.timeout_seconds, instancePath+"/timeout_seconds");
if(reason0 !== undefined){
const err4 = {instancePath:instancePath+"/timeout_seconds",schemaPath:"#/properties/timeout_seconds/x-value",keyword:"x-value",params:{},message:reason0,schema:"count",parentSchema:schema125.properties.timeout_seconds,data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
if((typeof data1 == "number") && (isFinite(data1))){
if(data1 < 0 || isNaN(data1)){
const err5 = {instancePath:instancePath+"/timeout_seconds",schemaPath:"#/properties/timeout_seconds/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema125.properties.timeout_seconds,data:data1};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
}
}
else {
const err6 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema125.type,parentSchema:schema125,data};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
validate282.errors = vErrors;
return errors === 0;
}
validate282.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};


function validate237(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/services.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate237.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!(func1.call(schema106.properties, key0))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema106,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.cas !== undefined){
let data0 = data.cas;
if(!data0 || typeof data0 != "object"){
const err1 = {instancePath:instancePath+"/cas",schemaPath:"#/properties/cas/type",keyword:"type",params:{type: schema106.properties.cas.type},message:"must be array,object",schema:schema106.properties.cas.type,parentSchema:schema106.properties.cas,data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(Array.isArray(data0)){
const len0 = data0.length;
for(let i0=0; i0<len0; i0++){
if(!(validate238.call(this, data0[i0], {instancePath:instancePath+"/cas/" + i0,parentData:data0,parentDataProperty:i0,rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate238.errors);
errors = vErrors.length;
}
}
}
if(data0 && typeof data0 == "object" && !Array.isArray(data0)){
for(const key1 in data0){
if(!(validate238.call(this, data0[key1], {instancePath:instancePath+"/cas/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),parentData:data0,parentDataProperty:key1,rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate238.errors);
errors = vErrors.length;
}
}
}
}
if(data.ac !== undefined){
let data3 = data.ac;
if(!data3 || typeof data3 != "object"){
const err2 = {instancePath:instancePath+"/ac",schemaPath:"#/properties/ac/type",keyword:"type",params:{type: schema106.properties.ac.type},message:"must be array,object",schema:schema106.properties.ac.type,parentSchema:schema106.properties.ac,data:data3};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(Array.isArray(data3)){
const len1 = data3.length;
for(let i1=0; i1<len1; i1++){
if(!(validate241.call(this, data3[i1], {instancePath:instancePath+"/ac/" + i1,parentData:data3,parentDataProperty:i1,rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate241.errors);
errors = vErrors.length;
}
}
}
if(data3 && typeof data3 == "object" && !Array.isArray(data3)){
for(const key2 in data3){
if(!(validate241.call(this, data3[key2], {instancePath:instancePath+"/ac/" + key2.replace(/~/g, "~0").replace(/\//g, "~1"),parentData:data3,parentDataProperty:key2,rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate241.errors);
errors = vErrors.length;
}
}
}
}
if(data.capabilities !== undefined){
let data6 = data.capabilities;
if(!data6 || typeof data6 != "object"){
const err3 = {instancePath:instancePath+"/capabilities",schemaPath:"#/properties/capabilities/type",keyword:"type",params:{type: schema106.properties.capabilities.type},message:"must be array,object",schema:schema106.properties.capabilities.type,parentSchema:schema106.properties.capabilities,data:data6};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(Array.isArray(data6)){
const len2 = data6.length;
for(let i2=0; i2<len2; i2++){
if(!(validate244.call(this, data6[i2], {instancePath:instancePath+"/capabilities/" + i2,parentData:data6,parentDataProperty:i2,rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate244.errors);
errors = vErrors.length;
}
}
}
if(data6 && typeof data6 == "object" && !Array.isArray(data6)){
for(const key3 in data6){
if(!(validate244.call(this, data6[key3], {instancePath:instancePath+"/capabilities/" + key3.replace(/~/g, "~0").replace(/\//g, "~1"),parentData:data6,parentDataProperty:key3,rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate244.errors);
errors = vErrors.length;
}
}
}
}
if(data.execution !== undefined){
let data9 = data.execution;
if(!data9 || typeof data9 != "object"){
const err4 = {instancePath:instancePath+"/execution",schemaPath:"#/properties/execution/type",keyword:"type",params:{type: schema106.properties.execution.type},message:"must be array,object",schema:schema106.properties.execution.type,parentSchema:schema106.properties.execution,data:data9};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
if(Array.isArray(data9)){
const len3 = data9.length;
for(let i3=0; i3<len3; i3++){
if(!(validate247.call(this, data9[i3], {instancePath:instancePath+"/execution/" + i3,parentData:data9,parentDataProperty:i3,rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate247.errors);
errors = vErrors.length;
}
}
}
if(data9 && typeof data9 == "object" && !Array.isArray(data9)){
for(const key4 in data9){
if(!(validate247.call(this, data9[key4], {instancePath:instancePath+"/execution/" + key4.replace(/~/g, "~0").replace(/\//g, "~1"),parentData:data9,parentDataProperty:key4,rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate247.errors);
errors = vErrors.length;
}
}
}
}
if(data.bytestream !== undefined){
let data12 = data.bytestream;
if(!data12 || typeof data12 != "object"){
const err5 = {instancePath:instancePath+"/bytestream",schemaPath:"#/properties/bytestream/type",keyword:"type",params:{type: schema106.properties.bytestream.type},message:"must be array,object",schema:schema106.properties.bytestream.type,parentSchema:schema106.properties.bytestream,data:data12};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if(Array.isArray(data12)){
const len4 = data12.length;
for(let i4=0; i4<len4; i4++){
if(!(validate250.call(this, data12[i4], {instancePath:instancePath+"/bytestream/" + i4,parentData:data12,parentDataProperty:i4,rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate250.errors);
errors = vErrors.length;
}
}
}
if(data12 && typeof data12 == "object" && !Array.isArray(data12)){
for(const key5 in data12){
if(!(((((key5 === "cas_stores") || (key5 === "max_bytes_per_stream")) || (key5 === "persist_stream_on_disconnect_timeout_s")) || (key5 === "persist_stream_on_disconnect_timeout")) || (key5 === "max_decoding_message_size"))){
if(!(validate250.call(this, data12[key5], {instancePath:instancePath+"/bytestream/" + key5.replace(/~/g, "~0").replace(/\//g, "~1"),parentData:data12,parentDataProperty:key5,rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate250.errors);
errors = vErrors.length;
}
}
}
if(data12.cas_stores !== undefined){
let data15 = data12.cas_stores;
if(data15 && typeof data15 == "object" && !Array.isArray(data15)){
for(const key6 in data15){
let data16 = data15[key6];
if(typeof data16 !== "string"){
const err6 = {instancePath:instancePath+"/bytestream/cas_stores/" + key6.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/bytestream/properties/cas_stores/additionalProperties/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema106.properties.bytestream.properties.cas_stores.additionalProperties.type,parentSchema:schema106.properties.bytestream.properties.cas_stores.additionalProperties,data:data16};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
}
else {
const err7 = {instancePath:instancePath+"/bytestream/cas_stores",schemaPath:"#/properties/bytestream/properties/cas_stores/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema106.properties.bytestream.properties.cas_stores.type,parentSchema:schema106.properties.bytestream.properties.cas_stores,data:data15};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
if(data12.max_bytes_per_stream !== undefined){
if(!(validate255.call(this, data12.max_bytes_per_stream, {instancePath:instancePath+"/bytestream/max_bytes_per_stream",parentData:data12,parentDataProperty:"max_bytes_per_stream",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate255.errors);
errors = vErrors.length;
}
}
if(data12.persist_stream_on_disconnect_timeout_s !== undefined){
if(!(validate257.call(this, data12.persist_stream_on_disconnect_timeout_s, {instancePath:instancePath+"/bytestream/persist_stream_on_disconnect_timeout_s",parentData:data12,parentDataProperty:"persist_stream_on_disconnect_timeout_s",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate257.errors);
errors = vErrors.length;
}
}
if(data12.persist_stream_on_disconnect_timeout !== undefined){
if(!(validate259.call(this, data12.persist_stream_on_disconnect_timeout, {instancePath:instancePath+"/bytestream/persist_stream_on_disconnect_timeout",parentData:data12,parentDataProperty:"persist_stream_on_disconnect_timeout",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate259.errors);
errors = vErrors.length;
}
}
}
}
if(data.fetch !== undefined){
let data20 = data.fetch;
if(!data20 || typeof data20 != "object"){
const err8 = {instancePath:instancePath+"/fetch",schemaPath:"#/properties/fetch/type",keyword:"type",params:{type: schema106.properties.fetch.type},message:"must be array,object",schema:schema106.properties.fetch.type,parentSchema:schema106.properties.fetch,data:data20};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
if(Array.isArray(data20)){
const len5 = data20.length;
for(let i5=0; i5<len5; i5++){
if(!(validate261.call(this, data20[i5], {instancePath:instancePath+"/fetch/" + i5,parentData:data20,parentDataProperty:i5,rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate261.errors);
errors = vErrors.length;
}
}
}
if(data20 && typeof data20 == "object" && !Array.isArray(data20)){
for(const key7 in data20){
if(!(validate261.call(this, data20[key7], {instancePath:instancePath+"/fetch/" + key7.replace(/~/g, "~0").replace(/\//g, "~1"),parentData:data20,parentDataProperty:key7,rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate261.errors);
errors = vErrors.length;
}
}
}
}
if(data.push !== undefined){
let data23 = data.push;
if(!data23 || typeof data23 != "object"){
const err9 = {instancePath:instancePath+"/push",schemaPath:"#/properties/push/type",keyword:"type",params:{type: schema106.properties.push.type},message:"must be array,object",schema:schema106.properties.push.type,parentSchema:schema106.properties.push,data:data23};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
if(Array.isArray(data23)){
const len6 = data23.length;
for(let i6=0; i6<len6; i6++){
if(!(validate264.call(this, data23[i6], {instancePath:instancePath+"/push/" + i6,parentData:data23,parentDataProperty:i6,rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate264.errors);
errors = vErrors.length;
}
}
}
if(data23 && typeof data23 == "object" && !Array.isArray(data23)){
for(const key8 in data23){
if(!(validate264.call(this, data23[key8], {instancePath:instancePath+"/push/" + key8.replace(/~/g, "~0").replace(/\//g, "~1"),parentData:data23,parentDataProperty:key8,rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate264.errors);
errors = vErrors.length;
}
}
}
}
if(data.http_cache !== undefined){
let data26 = data.http_cache;
if(!data26 || typeof data26 != "object"){
const err10 = {instancePath:instancePath+"/http_cache",schemaPath:"#/properties/http_cache/type",keyword:"type",params:{type: schema106.properties.http_cache.type},message:"must be array,object",schema:schema106.properties.http_cache.type,parentSchema:schema106.properties.http_cache,data:data26};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
if(Array.isArray(data26)){
const len7 = data26.length;
for(let i7=0; i7<len7; i7++){
if(!(validate267.call(this, data26[i7], {instancePath:instancePath+"/http_cache/" + i7,parentData:data26,parentDataProperty:i7,rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate267.errors);
errors = vErrors.length;
}
}
}
if(data26 && typeof data26 == "object" && !Array.isArray(data26)){
for(const key9 in data26){
if(!(validate267.call(this, data26[key9], {instancePath:instancePath+"/http_cache/" + key9.replace(/~/g, "~0").replace(/\//g, "~1"),parentData:data26,parentDataProperty:key9,rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate267.errors);
errors = vErrors.length;
}
}
}
}
if(data.worker_api !== undefined){
if(!(validate270.call(this, data.worker_api, {instancePath:instancePath+"/worker_api",parentData:data,parentDataProperty:"worker_api",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate270.errors);
errors = vErrors.length;
}
}
if(data.experimental_bep !== undefined){
if(!(validate272.call(this, data.experimental_bep, {instancePath:instancePath+"/experimental_bep",parentData:data,parentDataProperty:"experimental_bep",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate272.errors);
errors = vErrors.length;
}
}
if(data.build_events !== undefined){
if(!(validate274.call(this, data.build_events, {instancePath:instancePath+"/build_events",parentData:data,parentDataProperty:"build_events",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate274.errors);
errors = vErrors.length;
}
}
if(data.pages !== undefined){
if(!(validate276.call(this, data.pages, {instancePath:instancePath+"/pages",parentData:data,parentDataProperty:"pages",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate276.errors);
errors = vErrors.length;
}
}
if(data.admin !== undefined){
if(!(validate278.call(this, data.admin, {instancePath:instancePath+"/admin",parentData:data,parentDataProperty:"admin",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate278.errors);
errors = vErrors.length;
}
}
if(data.metrics !== undefined){
if(!(validate280.call(this, data.metrics, {instancePath:instancePath+"/metrics",parentData:data,parentDataProperty:"metrics",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate280.errors);
errors = vErrors.length;
}
}
if(data.health !== undefined){
if(!(validate282.call(this, data.health, {instancePath:instancePath+"/health",parentData:data,parentDataProperty:"health",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate282.errors);
errors = vErrors.length;
}
}
if(data.health_status !== undefined){
if(!(validate282.call(this, data.health_status, {instancePath:instancePath+"/health_status",parentData:data,parentDataProperty:"health_status",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate282.errors);
errors = vErrors.length;
}
}
}
else {
const err11 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema106.type,parentSchema:schema106,data};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
validate237.errors = vErrors;
return errors === 0;
}
validate237.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};


function validate232(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/server.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate232.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.listener === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "listener"},message:"must have required property '"+"listener"+"'",schema:schema103.required,parentSchema:schema103,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.services === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "services"},message:"must have required property '"+"services"+"'",schema:schema103.required,parentSchema:schema103,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
for(const key0 in data){
if(!((((key0 === "name") || (key0 === "listener")) || (key0 === "services")) || (key0 === "experimental_identity_header"))){
const err2 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema103,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.name !== undefined){
let data0 = data.name;
if(typeof data0 !== "string"){
const err3 = {instancePath:instancePath+"/name",schemaPath:"#/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema103.properties.name.type,parentSchema:schema103.properties.name,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.listener !== undefined){
let data1 = data.listener;
if(data1 && typeof data1 == "object" && !Array.isArray(data1)){
if(data1.http === undefined){
const err4 = {instancePath:instancePath+"/listener",schemaPath:"#/properties/listener/required",keyword:"required",params:{missingProperty: "http"},message:"must have required property '"+"http"+"'",schema:schema103.properties.listener.required,parentSchema:schema103.properties.listener,data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
for(const key1 in data1){
if(!(key1 === "http")){
const err5 = {instancePath:instancePath+"/listener",schemaPath:"#/properties/listener/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key1},message:"must NOT have additional properties",schema:false,parentSchema:schema103.properties.listener,data:data1};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data1.http !== undefined){
if(!(validate233.call(this, data1.http, {instancePath:instancePath+"/listener/http",parentData:data1,parentDataProperty:"http",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate233.errors);
errors = vErrors.length;
}
}
}
else {
const err6 = {instancePath:instancePath+"/listener",schemaPath:"#/properties/listener/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema103.properties.listener.type,parentSchema:schema103.properties.listener,data:data1};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data.services !== undefined){
if(!(validate237.call(this, data.services, {instancePath:instancePath+"/services",parentData:data,parentDataProperty:"services",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate237.errors);
errors = vErrors.length;
}
}
if(data.experimental_identity_header !== undefined){
let data4 = data.experimental_identity_header;
if(data4 && typeof data4 == "object" && !Array.isArray(data4)){
for(const key2 in data4){
if(!((key2 === "header_name") || (key2 === "required"))){
const err7 = {instancePath:instancePath+"/experimental_identity_header",schemaPath:"#/properties/experimental_identity_header/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key2},message:"must NOT have additional properties",schema:false,parentSchema:schema103.properties.experimental_identity_header,data:data4};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
if(data4.required !== undefined){
let data5 = data4.required;
if((typeof data5 !== "boolean") && (typeof data5 !== "string")){
const err8 = {instancePath:instancePath+"/experimental_identity_header/required",schemaPath:"#/properties/experimental_identity_header/properties/required/type",keyword:"type",params:{type: schema103.properties.experimental_identity_header.properties.required.type},message:"must be boolean,string",schema:schema103.properties.experimental_identity_header.properties.required.type,parentSchema:schema103.properties.experimental_identity_header.properties.required,data:data5};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
const reason0 = checkScalar.call(this, "bool", data5, schema103.properties.experimental_identity_header.properties.required, instancePath+"/experimental_identity_header/required");
if(reason0 !== undefined){
const err9 = {instancePath:instancePath+"/experimental_identity_header/required",schemaPath:"#/properties/experimental_identity_header/properties/required/x-value",keyword:"x-value",params:{},message:reason0,schema:"bool",parentSchema:schema103.properties.experimental_identity_header.properties.required,data:data5};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
}
else {
const err10 = {instancePath:instancePath+"/experimental_identity_header",schemaPath:"#/properties/experimental_identity_header/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema103.properties.experimental_identity_header.type,parentSchema:schema103.properties.experimental_identity_header,data:data4};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
}
else {
const err11 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema103.type,parentSchema:schema103,data};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
validate232.errors = vErrors;
return errors === 0;
}
validate232.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema126 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/instance.json","title":"Instance","description":"Settings of one instance, whichever server and service it is reached by.","type":"object","properties":{"instance_name":{"description":"The name of the instance, as in the services.","type":"string","default":"","x-instance":true},"isolate":{"description":"Separate its blobs and results from those of other instances that use the same stores. An instance then finds only its own content, whatever digest is asked for, and content uploaded by several instances is stored once for each. Every instance that uses these stores must be isolated. Left out: a caller that knows the digest of a blob can read the blob.","type":["boolean","string"],"x-value":"bool","default":false},"parent":{"description":"An instance whose results and entries are read where this one has none, and which this one never changes: an instance for each branch, as `pr-17` with the parent `main`. Both need the same `cas_store`, and neither is isolated.","type":"string","x-instance":true},"max_stored_bytes":{"description":"Most bytes that this instance keeps in each of the stores it shares. Above that its own least recently used blobs are evicted. A blob that does not fit at all is rejected with RESOURCE_EXHAUSTED, and so are concurrent uploads that exceed the limit together. Needs an isolated instance, because a shared blob has no owner. Counting starts with the process; older blobs count from their first use.","type":["integer","string"],"x-value":"size","minimum":1},"retention":{"description":"Keep what this instance uploads, reads or finds for at least this long, if its stores promise less (`retention` of `memory` and `filesystem`, `key_ttl_s` of `redis_store`). Take it for builds that take longer than the others', such as releases; not for every instance, because then the store itself should promise more. Left out: what the stores promise.","type":["integer","string"],"x-value":"duration","minimum":1,"maximum":31536000},"max_blob_size":{"description":"The largest blob that a client may upload to this instance. A larger one is rejected with INVALID_ARGUMENT before its content is read; GetCapabilities announces the limit (max_cas_blob_size_bytes). Take it if single outputs, such as disk images, push everything else out of a small cache: clients then keep such outputs to themselves. Outputs of actions on workers are not limited by it. Left out: a blob may be as large as its store allows.","type":["integer","string"],"x-value":"size","minimum":1}},"additionalProperties":false,"x-lenient":"array"};

function validate288(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/instance.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate288.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!((((((key0 === "instance_name") || (key0 === "isolate")) || (key0 === "parent")) || (key0 === "max_stored_bytes")) || (key0 === "retention")) || (key0 === "max_blob_size"))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema126,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.instance_name !== undefined){
let data0 = data.instance_name;
if(typeof data0 !== "string"){
const err1 = {instancePath:instancePath+"/instance_name",schemaPath:"#/properties/instance_name/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema126.properties.instance_name.type,parentSchema:schema126.properties.instance_name,data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.isolate !== undefined){
let data1 = data.isolate;
if((typeof data1 !== "boolean") && (typeof data1 !== "string")){
const err2 = {instancePath:instancePath+"/isolate",schemaPath:"#/properties/isolate/type",keyword:"type",params:{type: schema126.properties.isolate.type},message:"must be boolean,string",schema:schema126.properties.isolate.type,parentSchema:schema126.properties.isolate,data:data1};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
const reason0 = checkScalar.call(this, "bool", data1, schema126.properties.isolate, instancePath+"/isolate");
if(reason0 !== undefined){
const err3 = {instancePath:instancePath+"/isolate",schemaPath:"#/properties/isolate/x-value",keyword:"x-value",params:{},message:reason0,schema:"bool",parentSchema:schema126.properties.isolate,data:data1};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.parent !== undefined){
let data2 = data.parent;
if(typeof data2 !== "string"){
const err4 = {instancePath:instancePath+"/parent",schemaPath:"#/properties/parent/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema126.properties.parent.type,parentSchema:schema126.properties.parent,data:data2};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.max_stored_bytes !== undefined){
let data3 = data.max_stored_bytes;
if((!(((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3))) && (isFinite(data3)))) && (typeof data3 !== "string")){
const err5 = {instancePath:instancePath+"/max_stored_bytes",schemaPath:"#/properties/max_stored_bytes/type",keyword:"type",params:{type: schema126.properties.max_stored_bytes.type},message:"must be integer,string",schema:schema126.properties.max_stored_bytes.type,parentSchema:schema126.properties.max_stored_bytes,data:data3};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
const reason1 = checkScalar.call(this, "size", data3, schema126.properties.max_stored_bytes, instancePath+"/max_stored_bytes");
if(reason1 !== undefined){
const err6 = {instancePath:instancePath+"/max_stored_bytes",schemaPath:"#/properties/max_stored_bytes/x-value",keyword:"x-value",params:{},message:reason1,schema:"size",parentSchema:schema126.properties.max_stored_bytes,data:data3};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if((typeof data3 == "number") && (isFinite(data3))){
if(data3 < 1 || isNaN(data3)){
const err7 = {instancePath:instancePath+"/max_stored_bytes",schemaPath:"#/properties/max_stored_bytes/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema126.properties.max_stored_bytes,data:data3};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
}
if(data.retention !== undefined){
let data4 = data.retention;
if((!(((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4))) && (isFinite(data4)))) && (typeof data4 !== "string")){
const err8 = {instancePath:instancePath+"/retention",schemaPath:"#/properties/retention/type",keyword:"type",params:{type: schema126.properties.retention.type},message:"must be integer,string",schema:schema126.properties.retention.type,parentSchema:schema126.properties.retention,data:data4};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
const reason2 = checkScalar.call(this, "duration", data4, schema126.properties.retention, instancePath+"/retention");
if(reason2 !== undefined){
const err9 = {instancePath:instancePath+"/retention",schemaPath:"#/properties/retention/x-value",keyword:"x-value",params:{},message:reason2,schema:"duration",parentSchema:schema126.properties.retention,data:data4};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
if((typeof data4 == "number") && (isFinite(data4))){
if(data4 > 31536000 || isNaN(data4)){
const err10 = {instancePath:instancePath+"/retention",schemaPath:"#/properties/retention/maximum",keyword:"maximum",params:{comparison: "<=", limit: 31536000},message:"must be <= 31536000",schema:31536000,parentSchema:schema126.properties.retention,data:data4};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
if(data4 < 1 || isNaN(data4)){
const err11 = {instancePath:instancePath+"/retention",schemaPath:"#/properties/retention/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema126.properties.retention,data:data4};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
}
if(data.max_blob_size !== undefined){
let data5 = data.max_blob_size;
if((!(((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5))) && (isFinite(data5)))) && (typeof data5 !== "string")){
const err12 = {instancePath:instancePath+"/max_blob_size",schemaPath:"#/properties/max_blob_size/type",keyword:"type",params:{type: schema126.properties.max_blob_size.type},message:"must be integer,string",schema:schema126.properties.max_blob_size.type,parentSchema:schema126.properties.max_blob_size,data:data5};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
const reason3 = checkScalar.call(this, "size", data5, schema126.properties.max_blob_size, instancePath+"/max_blob_size");
if(reason3 !== undefined){
const err13 = {instancePath:instancePath+"/max_blob_size",schemaPath:"#/properties/max_blob_size/x-value",keyword:"x-value",params:{},message:reason3,schema:"size",parentSchema:schema126.properties.max_blob_size,data:data5};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
if((typeof data5 == "number") && (isFinite(data5))){
if(data5 < 1 || isNaN(data5)){
const err14 = {instancePath:instancePath+"/max_blob_size",schemaPath:"#/properties/max_blob_size/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema126.properties.max_blob_size,data:data5};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
}
}
else {
const err15 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema126.type,parentSchema:schema126,data};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
validate288.errors = vErrors;
return errors === 0;
}
validate288.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema127 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/global.json","title":"Global","description":"Settings of the whole process.","type":"object","properties":{"max_open_files":{"description":"Files the process may have open.","type":["integer","string"],"x-value":"count","minimum":0,"x-ignored":"Node raises its limit at start to the hard limit, which ulimit -Hn or the service unit (LimitNOFILE) sets"},"default_digest_hash_function":{"description":"Digest function of requests that name none and whose hash fits several.","type":"string","x-words":["SHA256","BLAKE3","SHA384","SHA512","SHA1","MD5","GITSHA1"],"default":"SHA256"},"digest_functions":{"description":"Digest functions clients may use.","type":"array","minItems":1,"items":{"type":"string","x-words":["SHA256","BLAKE3","SHA384","SHA512","SHA1","MD5","GITSHA1"]},"default":["SHA256","BLAKE3"]},"default_digest_size_health_check":{"description":"Bytes a health probe writes to and reads from a store.","type":["integer","string"],"x-value":"size","x-ignored":"a probe writes one byte at most"},"log_level":{"description":"Lowest level that is logged.","type":"string","enum":["debug","info","warn","error"],"default":"info"},"log_call_share":{"description":"Fraction of calls, and of ended actions, that are logged at level info; each line states the fraction. 0.01 logs one in a hundred, chosen at random. At level debug all of them are logged. An action that failed for another reason than its command is always logged. A call that the server failed is logged at every level.","type":["number","string"],"x-value":"number","minimum":0,"maximum":1,"default":0},"metrics_instance_names":{"description":"Count calls, completed executions and the work of stores per instance, by the label `instance_name` of `svc_rpc_duration`, `svc_execution_completed_count_total`, `svc_cache_operations_total` and `svc_cache_io_total`. The first 100 names get their own series, all others share one. Calls that name no instance, and work of the server itself, have an empty label.","type":["boolean","string"],"x-value":"bool","default":false},"metrics_action_digests":{"description":"Count completed executions per action, by the label `execution_action_digest` of the metrics. The first 1,000 actions get their own series, all others share one. This makes many series: turn it on for a while, to investigate one action.","type":["boolean","string"],"x-value":"bool","default":false},"drain_s":{"description":"Seconds from a stop signal (SIGTERM, SIGINT, or SIGHUP from a closed terminal) to the end of the process, at most; below 4 it may take 4. Calls and actions in flight get all of it but the last 2 seconds (a quarter, when that is less); then they are cancelled and the stores are closed. The server does not wait for idle workers and connections. A start that is not complete by then is aborted. A second signal ends the process at once. Container managers kill after 10 or 30 seconds: keep this below.","type":["integer","string"],"x-value":"duration","default":8},"threads":{"description":"Service threads: how many threads besides the main one have connections of gRPC clients, each with TLS, HTTP/2 and gRPC of its own; `cores` means one for each core of this machine. 1 means that the main thread does everything. HTTP/1.1, HTTP caches over it included, stays with the main thread, and so do the connections of a server whose calls they would not serve. Needs koffi and `transport: \"remexec\"`. docs/threads.md says what runs where, and what it costs.","type":["integer","string"],"x-value":"parallelism","minimum":1,"maximum":64,"default":1},"disable_metrics":{"description":"Do not count calls, store operations or scheduler events, export no metrics, and leave these numbers out of the status page.","type":["boolean","string"],"x-value":"bool","default":false},"idle_file_descriptor_timeout_millis":{"description":"No longer used.","deprecated":true,"x-ignored":true}},"additionalProperties":false};

function validate291(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/global.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate291.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!(func1.call(schema127.properties, key0))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema127,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.max_open_files !== undefined){
let data0 = data.max_open_files;
if((!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))) && (typeof data0 !== "string")){
const err1 = {instancePath:instancePath+"/max_open_files",schemaPath:"#/properties/max_open_files/type",keyword:"type",params:{type: schema127.properties.max_open_files.type},message:"must be integer,string",schema:schema127.properties.max_open_files.type,parentSchema:schema127.properties.max_open_files,data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
const reason0 = checkScalar.call(this, "count", data0, schema127.properties.max_open_files, instancePath+"/max_open_files");
if(reason0 !== undefined){
const err2 = {instancePath:instancePath+"/max_open_files",schemaPath:"#/properties/max_open_files/x-value",keyword:"x-value",params:{},message:reason0,schema:"count",parentSchema:schema127.properties.max_open_files,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 < 0 || isNaN(data0)){
const err3 = {instancePath:instancePath+"/max_open_files",schemaPath:"#/properties/max_open_files/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema127.properties.max_open_files,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
}
if(data.default_digest_hash_function !== undefined){
let data1 = data.default_digest_hash_function;
if(typeof data1 !== "string"){
const err4 = {instancePath:instancePath+"/default_digest_hash_function",schemaPath:"#/properties/default_digest_hash_function/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema127.properties.default_digest_hash_function.type,parentSchema:schema127.properties.default_digest_hash_function,data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
const reason1 = checkWord.call(this, schema127.properties.default_digest_hash_function["x-words"], data1, schema127.properties.default_digest_hash_function, instancePath+"/default_digest_hash_function");
if(reason1 !== undefined){
const err5 = {instancePath:instancePath+"/default_digest_hash_function",schemaPath:"#/properties/default_digest_hash_function/x-words",keyword:"x-words",params:{},message:reason1,schema:schema127.properties.default_digest_hash_function["x-words"],parentSchema:schema127.properties.default_digest_hash_function,data:data1};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data.digest_functions !== undefined){
let data2 = data.digest_functions;
if(Array.isArray(data2)){
if(data2.length < 1){
const err6 = {instancePath:instancePath+"/digest_functions",schemaPath:"#/properties/digest_functions/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema127.properties.digest_functions,data:data2};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
const len0 = data2.length;
for(let i0=0; i0<len0; i0++){
let data3 = data2[i0];
if(typeof data3 !== "string"){
const err7 = {instancePath:instancePath+"/digest_functions/" + i0,schemaPath:"#/properties/digest_functions/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema127.properties.digest_functions.items.type,parentSchema:schema127.properties.digest_functions.items,data:data3};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
const reason2 = checkWord.call(this, schema127.properties.digest_functions.items["x-words"], data3, schema127.properties.digest_functions.items, instancePath+"/digest_functions/" + i0);
if(reason2 !== undefined){
const err8 = {instancePath:instancePath+"/digest_functions/" + i0,schemaPath:"#/properties/digest_functions/items/x-words",keyword:"x-words",params:{},message:reason2,schema:schema127.properties.digest_functions.items["x-words"],parentSchema:schema127.properties.digest_functions.items,data:data3};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
}
else {
const err9 = {instancePath:instancePath+"/digest_functions",schemaPath:"#/properties/digest_functions/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema127.properties.digest_functions.type,parentSchema:schema127.properties.digest_functions,data:data2};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
if(data.default_digest_size_health_check !== undefined){
let data4 = data.default_digest_size_health_check;
if((!(((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4))) && (isFinite(data4)))) && (typeof data4 !== "string")){
const err10 = {instancePath:instancePath+"/default_digest_size_health_check",schemaPath:"#/properties/default_digest_size_health_check/type",keyword:"type",params:{type: schema127.properties.default_digest_size_health_check.type},message:"must be integer,string",schema:schema127.properties.default_digest_size_health_check.type,parentSchema:schema127.properties.default_digest_size_health_check,data:data4};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
const reason3 = checkScalar.call(this, "size", data4, schema127.properties.default_digest_size_health_check, instancePath+"/default_digest_size_health_check");
if(reason3 !== undefined){
const err11 = {instancePath:instancePath+"/default_digest_size_health_check",schemaPath:"#/properties/default_digest_size_health_check/x-value",keyword:"x-value",params:{},message:reason3,schema:"size",parentSchema:schema127.properties.default_digest_size_health_check,data:data4};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
if(data.log_level !== undefined){
let data5 = data.log_level;
if(typeof data5 !== "string"){
const err12 = {instancePath:instancePath+"/log_level",schemaPath:"#/properties/log_level/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema127.properties.log_level.type,parentSchema:schema127.properties.log_level,data:data5};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
if(!((((data5 === "debug") || (data5 === "info")) || (data5 === "warn")) || (data5 === "error"))){
const err13 = {instancePath:instancePath+"/log_level",schemaPath:"#/properties/log_level/enum",keyword:"enum",params:{allowedValues: schema127.properties.log_level.enum},message:"must be equal to one of the allowed values",schema:schema127.properties.log_level.enum,parentSchema:schema127.properties.log_level,data:data5};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
}
if(data.log_call_share !== undefined){
let data6 = data.log_call_share;
if((!((typeof data6 == "number") && (isFinite(data6)))) && (typeof data6 !== "string")){
const err14 = {instancePath:instancePath+"/log_call_share",schemaPath:"#/properties/log_call_share/type",keyword:"type",params:{type: schema127.properties.log_call_share.type},message:"must be number,string",schema:schema127.properties.log_call_share.type,parentSchema:schema127.properties.log_call_share,data:data6};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
const reason4 = checkScalar.call(this, "number", data6, schema127.properties.log_call_share, instancePath+"/log_call_share");
if(reason4 !== undefined){
const err15 = {instancePath:instancePath+"/log_call_share",schemaPath:"#/properties/log_call_share/x-value",keyword:"x-value",params:{},message:reason4,schema:"number",parentSchema:schema127.properties.log_call_share,data:data6};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
if((typeof data6 == "number") && (isFinite(data6))){
if(data6 > 1 || isNaN(data6)){
const err16 = {instancePath:instancePath+"/log_call_share",schemaPath:"#/properties/log_call_share/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1},message:"must be <= 1",schema:1,parentSchema:schema127.properties.log_call_share,data:data6};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
if(data6 < 0 || isNaN(data6)){
const err17 = {instancePath:instancePath+"/log_call_share",schemaPath:"#/properties/log_call_share/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema127.properties.log_call_share,data:data6};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
}
}
if(data.metrics_instance_names !== undefined){
let data7 = data.metrics_instance_names;
if((typeof data7 !== "boolean") && (typeof data7 !== "string")){
const err18 = {instancePath:instancePath+"/metrics_instance_names",schemaPath:"#/properties/metrics_instance_names/type",keyword:"type",params:{type: schema127.properties.metrics_instance_names.type},message:"must be boolean,string",schema:schema127.properties.metrics_instance_names.type,parentSchema:schema127.properties.metrics_instance_names,data:data7};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
const reason5 = checkScalar.call(this, "bool", data7, schema127.properties.metrics_instance_names, instancePath+"/metrics_instance_names");
if(reason5 !== undefined){
const err19 = {instancePath:instancePath+"/metrics_instance_names",schemaPath:"#/properties/metrics_instance_names/x-value",keyword:"x-value",params:{},message:reason5,schema:"bool",parentSchema:schema127.properties.metrics_instance_names,data:data7};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
}
if(data.metrics_action_digests !== undefined){
let data8 = data.metrics_action_digests;
if((typeof data8 !== "boolean") && (typeof data8 !== "string")){
const err20 = {instancePath:instancePath+"/metrics_action_digests",schemaPath:"#/properties/metrics_action_digests/type",keyword:"type",params:{type: schema127.properties.metrics_action_digests.type},message:"must be boolean,string",schema:schema127.properties.metrics_action_digests.type,parentSchema:schema127.properties.metrics_action_digests,data:data8};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
const reason6 = checkScalar.call(this, "bool", data8, schema127.properties.metrics_action_digests, instancePath+"/metrics_action_digests");
if(reason6 !== undefined){
const err21 = {instancePath:instancePath+"/metrics_action_digests",schemaPath:"#/properties/metrics_action_digests/x-value",keyword:"x-value",params:{},message:reason6,schema:"bool",parentSchema:schema127.properties.metrics_action_digests,data:data8};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
}
if(data.drain_s !== undefined){
let data9 = data.drain_s;
if((!(((typeof data9 == "number") && (!(data9 % 1) && !isNaN(data9))) && (isFinite(data9)))) && (typeof data9 !== "string")){
const err22 = {instancePath:instancePath+"/drain_s",schemaPath:"#/properties/drain_s/type",keyword:"type",params:{type: schema127.properties.drain_s.type},message:"must be integer,string",schema:schema127.properties.drain_s.type,parentSchema:schema127.properties.drain_s,data:data9};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
const reason7 = checkScalar.call(this, "duration", data9, schema127.properties.drain_s, instancePath+"/drain_s");
if(reason7 !== undefined){
const err23 = {instancePath:instancePath+"/drain_s",schemaPath:"#/properties/drain_s/x-value",keyword:"x-value",params:{},message:reason7,schema:"duration",parentSchema:schema127.properties.drain_s,data:data9};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
}
if(data.threads !== undefined){
let data10 = data.threads;
if((!(((typeof data10 == "number") && (!(data10 % 1) && !isNaN(data10))) && (isFinite(data10)))) && (typeof data10 !== "string")){
const err24 = {instancePath:instancePath+"/threads",schemaPath:"#/properties/threads/type",keyword:"type",params:{type: schema127.properties.threads.type},message:"must be integer,string",schema:schema127.properties.threads.type,parentSchema:schema127.properties.threads,data:data10};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
const reason8 = checkScalar.call(this, "parallelism", data10, schema127.properties.threads, instancePath+"/threads");
if(reason8 !== undefined){
const err25 = {instancePath:instancePath+"/threads",schemaPath:"#/properties/threads/x-value",keyword:"x-value",params:{},message:reason8,schema:"parallelism",parentSchema:schema127.properties.threads,data:data10};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
if((typeof data10 == "number") && (isFinite(data10))){
if(data10 > 64 || isNaN(data10)){
const err26 = {instancePath:instancePath+"/threads",schemaPath:"#/properties/threads/maximum",keyword:"maximum",params:{comparison: "<=", limit: 64},message:"must be <= 64",schema:64,parentSchema:schema127.properties.threads,data:data10};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
if(data10 < 1 || isNaN(data10)){
const err27 = {instancePath:instancePath+"/threads",schemaPath:"#/properties/threads/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema127.properties.threads,data:data10};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
}
}
if(data.disable_metrics !== undefined){
let data11 = data.disable_metrics;
if((typeof data11 !== "boolean") && (typeof data11 !== "string")){
const err28 = {instancePath:instancePath+"/disable_metrics",schemaPath:"#/properties/disable_metrics/type",keyword:"type",params:{type: schema127.properties.disable_metrics.type},message:"must be boolean,string",schema:schema127.properties.disable_metrics.type,parentSchema:schema127.properties.disable_metrics,data:data11};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
const reason9 = checkScalar.call(this, "bool", data11, schema127.properties.disable_metrics, instancePath+"/disable_metrics");
if(reason9 !== undefined){
const err29 = {instancePath:instancePath+"/disable_metrics",schemaPath:"#/properties/disable_metrics/x-value",keyword:"x-value",params:{},message:reason9,schema:"bool",parentSchema:schema127.properties.disable_metrics,data:data11};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
}
}
else {
const err30 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema127.type,parentSchema:schema127,data};
if(vErrors === null){
vErrors = [err30];
}
else {
vErrors.push(err30);
}
errors++;
}
validate291.errors = vErrors;
return errors === 0;
}
validate291.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema128 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://remexec.invalid/schema/security.json","title":"Security","description":"Which callers may call, and what each may do, on every server of the process. Left out: every caller may do everything. docs/security.md explains it.","type":"object","properties":{"identity":{"title":"IdentitySources","description":"How callers are identified. The server checks credentials in this order: `identity_header`, the `authorization` header (a token of this server, then a JWT, or a name and password), a client certificate. The first one present decides. Callers with invalid credentials are rejected; callers without credentials are anonymous.","type":"object","properties":{"identity_header":{"title":"IdentityHeader","description":"Trust a proxy that has authenticated the caller.","type":"object","properties":{"name":{"description":"The header with the name of the caller, in lower case.","type":"string"},"groups_name":{"description":"The header with the caller's groups, separated by commas.","type":"string"},"trusted":{"description":"Addresses of the proxies, each `address` or `address/prefix`, or `unix` for those that connect by a unix socket. From other addresses the headers are ignored.","type":"array","minItems":1,"items":{"type":"string"}}},"additionalProperties":false,"required":["name","trusted"]},"tokens":{"description":"Tokens that callers send as `authorization: Bearer TOKEN`; `remexec token NAME` creates one.","type":"array","items":{"title":"AccessToken","type":"object","properties":{"name":{"description":"The name of the caller.","type":"string"},"sha256":{"description":"SHA-256 of the token, 64 hex digits.","type":"string"},"groups":{"description":"The groups of the caller.","type":"array","items":{"type":"string"},"default":[]},"scope":{"description":"The scope of the caller in every instance, in place of the rules of `scopes`.","type":"string","pattern":"^.+$","x-expected":"a text that is not empty"}},"additionalProperties":false,"required":["name","sha256"]},"default":[]},"tokens_file":{"description":"File with more tokens: one line `NAME SHA256 [GROUP,GROUP...] [scope=SCOPE]` each. A changed file is read again within 5 seconds.","type":"string","x-path":true},"jwt":{"description":"Issuers of JSON Web Tokens that callers send as `authorization: Bearer TOKEN`. Only asymmetric signatures are accepted.","type":"array","items":{"title":"JwtIssuer","type":"object","properties":{"issuer":{"description":"The required value of `iss`.","type":"string"},"audiences":{"description":"The accepted values of `aud`: one of them must occur.","type":"array","minItems":1,"items":{"type":"string"}},"jwks_uri":{"description":"Address of the issuer's keys. Left out with `jwks_file`: the address in its `/.well-known/openid-configuration`.","type":"string"},"jwks_file":{"description":"A file with the keys. A changed file is read again within 5 seconds.","type":"string","x-path":true},"name_claim":{"description":"The claim with the name of the caller.","type":"string","default":"sub"},"groups_claim":{"description":"The claim with the caller's groups: a list, or words in one text.","type":"string","default":"groups"},"clock_skew_s":{"description":"Seconds by which the clocks may differ.","type":["integer","string"],"x-value":"duration","default":60}},"additionalProperties":false,"required":["issuer","audiences"]},"default":[]},"oidc":{"title":"OidcProvider","description":"An identity provider (OpenID Connect) that readers of the pages log in with, besides the other ways. A session then stands for who they are: it lasts for `session_s` of the pages, and the rules of access hold for it as for a JWT (`by: [\"jwt\"]`). Register the client there as a web application with the authorization code flow, and `ADDRESS/login/callback` as the address to come back to, where ADDRESS is `address` and `path` of `services.pages`.","type":"object","properties":{"issuer":{"description":"The address of the provider, as in its `/.well-known/openid-configuration`.","type":"string"},"client_id":{"description":"What the provider calls these pages.","type":"string","pattern":"^.+$","x-expected":"the id of the client at the provider"},"client_secret":{"description":"The secret of the client. Left out for a public client, which is protected by PKCE alone.","type":"string"},"label":{"description":"What the link to it says: `Log in with LABEL`.","type":"string","default":"your account"},"scopes":{"description":"What to ask for besides `openid`. The scope for groups differs between providers.","type":"array","items":{"type":"string"},"default":["profile","email"]},"name_claim":{"description":"The claim with the name of the reader.","type":"string","default":"sub"},"groups_claim":{"description":"The claim with the groups of the reader: a list, or words in one text. The provider is asked for its userinfo if the ID token lacks one of the two.","type":"string","default":"groups"},"clock_skew_s":{"description":"Seconds by which the clocks may differ.","type":["integer","string"],"x-value":"duration","default":60}},"additionalProperties":false,"required":["issuer","client_id"]},"htpasswd_file":{"description":"Names and passwords for `authorization: Basic`, as `htpasswd -B` writes them (bcrypt only). A changed file is read again within 5 seconds.","type":"string","x-path":true},"client_certificates":{"title":"CertificateIdentity","description":"Use the certificate that `listener.http.tls` requests as the caller's identity.","type":"object","properties":{"name":{"description":"The part of the certificate that is the name: the common name of its subject, or its first alternative name of this kind.","type":"string","enum":["common_name","dns","uri","email"],"default":"common_name"},"groups":{"description":"The part of its subject that holds the groups.","type":"string","enum":["none","organization","organizational_unit"],"default":"organizational_unit"}},"additionalProperties":false}},"additionalProperties":false,"default":{}},"access":{"description":"The rules of access. Each rule adds permissions; none removes any. Left out: every identified caller may use all caches and execution, and anonymous callers nothing.","type":"array","items":{"title":"AccessRule","type":"object","properties":{"may":{"description":"The permissions: read and write blobs and results, execute actions, be a worker, be a server that hands in the actions of its own callers (`forward`: who has it speaks for all callers of these instances), see and list the work of others.","type":"array","minItems":1,"items":{"type":"string","x-words":["read_cas","write_cas","read_ac","write_ac","execute","push","work","forward","administer"]}},"instances":{"description":"The instances, as patterns: `*` stands for any text.","type":"array","items":{"type":"string"},"default":["*"]},"schedulers":{"description":"The schedulers for which it may `work`, as patterns.","type":"array","items":{"type":"string"},"default":["*"]},"anonymous":{"description":"Every caller, identified or anonymous. The four keys below select identified callers; each key that is given must match.","type":["boolean","string"],"x-value":"bool","default":false},"names":{"description":"Callers whose name matches one of these patterns.","type":"array","minItems":1,"items":{"type":"string"}},"groups":{"description":"Callers with a group that matches one of these patterns.","type":"array","minItems":1,"items":{"type":"string"}},"claims":{"description":"Callers whose JWT has these claims. Each is a pattern for its value, or for one of its values.","type":"object","additionalProperties":{"type":"string"}},"by":{"description":"Callers identified by one of these sources, because several can issue the same name.","type":"array","minItems":1,"items":{"type":"string","enum":["header","token","jwt","basic","certificate"]}}},"additionalProperties":false,"required":["may"]}},"scopes":{"title":"ScopeOptions","description":"Which callers write apart: builds of branches and pull requests, which everybody who may open one controls. A caller with a scope reads its own results and entries first, then those of the instance, and writes only its own; a caller without one is trusted. docs/branches.md explains it.","type":"object","properties":{"rules":{"description":"The first rule that is for a caller and an instance gives its scope. A caller that no rule is for is trusted.","type":"array","items":{"title":"ScopeRule","type":"object","properties":{"scope":{"description":"The scope. `{claims.NAME}` stands for a claim of the JWT, `{name}` for the name of the caller, `{instance}` for the instance that it names. A caller without the claim gets a scope of its own. An empty text: the caller is trusted.","type":"string"},"unless":{"description":"Claims by which a JWT is trusted in spite of this rule: all of them must match, as in `claims`.","type":"object","additionalProperties":{"type":"string"}},"instances":{"description":"The instances, as patterns: `*` stands for any text.","type":"array","items":{"type":"string"},"default":["*"]},"anonymous":{"description":"Every caller, identified or anonymous. The four keys below select identified callers; each key that is given must match.","type":["boolean","string"],"x-value":"bool","default":false},"names":{"$ref":"https://remexec.invalid/schema/security.json#/properties/access/items/properties/names"},"groups":{"$ref":"https://remexec.invalid/schema/security.json#/properties/access/items/properties/groups"},"claims":{"$ref":"https://remexec.invalid/schema/security.json#/properties/access/items/properties/claims"},"by":{"$ref":"https://remexec.invalid/schema/security.json#/properties/access/items/properties/by"}},"additionalProperties":false,"required":["scope"]},"default":[]},"max_bytes":{"description":"The most bytes that one scope keeps in an action cache: its results and entries, and the files that they name. Above that its own least recently used results and entries are removed; nothing is refused.","type":["integer","string"],"x-value":"size","minimum":1,"default":10000000000},"scope_days":{"description":"A scope that nothing used for so many days is given back: it begins empty when its caller comes again.","type":["integer","string"],"x-value":"count","minimum":1,"maximum":3650,"default":30}},"additionalProperties":false,"default":{}},"request_limits":{"description":"Limits on the requests of callers. The first entry that matches a caller applies, and counts each name separately. Anonymous callers and callers with invalid credentials are counted by address. Requests above the limit are rejected with RESOURCE_EXHAUSTED, which says when to retry.","type":"array","items":{"title":"RequestLimit","type":"object","properties":{"requests_per_s":{"description":"Requests per second, on average. Each call is one, however much it transfers.","type":["number","string"],"x-value":"number","exclusiveMinimum":0},"burst":{"description":"Requests at once after a time without any.","type":["integer","string"],"x-value":"count","minimum":1,"default":100},"anonymous":{"description":"Every caller, identified or anonymous. The four keys below select identified callers; each key that is given must match.","type":["boolean","string"],"x-value":"bool","default":false},"names":{"$ref":"https://remexec.invalid/schema/security.json#/properties/access/items/properties/names"},"groups":{"$ref":"https://remexec.invalid/schema/security.json#/properties/access/items/properties/groups"},"claims":{"$ref":"https://remexec.invalid/schema/security.json#/properties/access/items/properties/claims"},"by":{"$ref":"https://remexec.invalid/schema/security.json#/properties/access/items/properties/by"}},"additionalProperties":false,"required":["requests_per_s"]},"default":[]},"callers_in_results":{"description":"Readers of a result's origin: the caller that requested it or stored it in the action cache, and the identity of the worker that ran it. They are the callers that may `administer` the instance, all callers that may read its results, or none; then the origin is not stored. It is `remexec.scheduler.v1.ResultOrigin` in the result's metadata.","type":"string","enum":["administrators","readers","nobody"],"default":"administrators"},"audit_log":{"title":"AuditLog","description":"Write an audit log: caller, request, time, and decision, one line of JSON per call, and one for each result of a worker that the action cache kept. It leaves out health and reflection, which are open. It contains names of callers, never their credentials.","type":"object","properties":{"path":{"description":"The file. Its folder must exist. If the file is moved away, the server opens a new one within 5 seconds.","type":"string","x-path":true},"calls":{"description":"All calls, and each result of a worker that was kept; or only rejected calls.","type":"string","enum":["all","refused"],"default":"all"},"max_bytes":{"description":"A file of this length becomes `path.1`, which becomes `path.2`, and so on.","type":["integer","string"],"x-value":"size","minimum":1,"default":104857600,"x-zero-is-default":true},"max_files":{"description":"Older files to keep.","type":["integer","string"],"x-value":"count","minimum":0,"default":5}},"additionalProperties":false,"required":["path"]}},"additionalProperties":false};
const pattern13 = new RegExp("^.+$", "u");
const schema129 = {"description":"Callers whose name matches one of these patterns.","type":"array","minItems":1,"items":{"type":"string"}};

function validate294(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate294.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(Array.isArray(data)){
if(data.length < 1){
const err0 = {instancePath,schemaPath:"#/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema129,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
const len0 = data.length;
for(let i0=0; i0<len0; i0++){
let data0 = data[i0];
if(typeof data0 !== "string"){
const err1 = {instancePath:instancePath+"/" + i0,schemaPath:"#/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema129.items.type,parentSchema:schema129.items,data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
}
else {
const err2 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema129.type,parentSchema:schema129,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
validate294.errors = vErrors;
return errors === 0;
}
validate294.evaluated = {"items":true,"dynamicProps":false,"dynamicItems":false};

const schema130 = {"description":"Callers with a group that matches one of these patterns.","type":"array","minItems":1,"items":{"type":"string"}};

function validate296(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate296.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(Array.isArray(data)){
if(data.length < 1){
const err0 = {instancePath,schemaPath:"#/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema130,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
const len0 = data.length;
for(let i0=0; i0<len0; i0++){
let data0 = data[i0];
if(typeof data0 !== "string"){
const err1 = {instancePath:instancePath+"/" + i0,schemaPath:"#/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema130.items.type,parentSchema:schema130.items,data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
}
else {
const err2 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema130.type,parentSchema:schema130,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
validate296.errors = vErrors;
return errors === 0;
}
validate296.evaluated = {"items":true,"dynamicProps":false,"dynamicItems":false};

const schema131 = {"description":"Callers whose JWT has these claims. Each is a pattern for its value, or for one of its values.","type":"object","additionalProperties":{"type":"string"}};

function validate298(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate298.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
let data0 = data[key0];
if(typeof data0 !== "string"){
const err0 = {instancePath:instancePath+"/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/additionalProperties/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema131.additionalProperties.type,parentSchema:schema131.additionalProperties,data:data0};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
}
else {
const err1 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema131.type,parentSchema:schema131,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate298.errors = vErrors;
return errors === 0;
}
validate298.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema132 = {"description":"Callers identified by one of these sources, because several can issue the same name.","type":"array","minItems":1,"items":{"type":"string","enum":["header","token","jwt","basic","certificate"]}};

function validate300(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate300.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(Array.isArray(data)){
if(data.length < 1){
const err0 = {instancePath,schemaPath:"#/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema132,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
const len0 = data.length;
for(let i0=0; i0<len0; i0++){
let data0 = data[i0];
if(typeof data0 !== "string"){
const err1 = {instancePath:instancePath+"/" + i0,schemaPath:"#/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema132.items.type,parentSchema:schema132.items,data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(!(((((data0 === "header") || (data0 === "token")) || (data0 === "jwt")) || (data0 === "basic")) || (data0 === "certificate"))){
const err2 = {instancePath:instancePath+"/" + i0,schemaPath:"#/items/enum",keyword:"enum",params:{allowedValues: schema132.items.enum},message:"must be equal to one of the allowed values",schema:schema132.items.enum,parentSchema:schema132.items,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
}
else {
const err3 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema132.type,parentSchema:schema132,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate300.errors = vErrors;
return errors === 0;
}
validate300.evaluated = {"items":true,"dynamicProps":false,"dynamicItems":false};


function validate293(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/security.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate293.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!((((((key0 === "identity") || (key0 === "access")) || (key0 === "scopes")) || (key0 === "request_limits")) || (key0 === "callers_in_results")) || (key0 === "audit_log"))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema128,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.identity !== undefined){
let data0 = data.identity;
if(data0 && typeof data0 == "object" && !Array.isArray(data0)){
for(const key1 in data0){
if(!(((((((key1 === "identity_header") || (key1 === "tokens")) || (key1 === "tokens_file")) || (key1 === "jwt")) || (key1 === "oidc")) || (key1 === "htpasswd_file")) || (key1 === "client_certificates"))){
const err1 = {instancePath:instancePath+"/identity",schemaPath:"#/properties/identity/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key1},message:"must NOT have additional properties",schema:false,parentSchema:schema128.properties.identity,data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data0.identity_header !== undefined){
let data1 = data0.identity_header;
if(data1 && typeof data1 == "object" && !Array.isArray(data1)){
if(data1.name === undefined){
const err2 = {instancePath:instancePath+"/identity/identity_header",schemaPath:"#/properties/identity/properties/identity_header/required",keyword:"required",params:{missingProperty: "name"},message:"must have required property '"+"name"+"'",schema:schema128.properties.identity.properties.identity_header.required,parentSchema:schema128.properties.identity.properties.identity_header,data:data1};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(data1.trusted === undefined){
const err3 = {instancePath:instancePath+"/identity/identity_header",schemaPath:"#/properties/identity/properties/identity_header/required",keyword:"required",params:{missingProperty: "trusted"},message:"must have required property '"+"trusted"+"'",schema:schema128.properties.identity.properties.identity_header.required,parentSchema:schema128.properties.identity.properties.identity_header,data:data1};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
for(const key2 in data1){
if(!(((key2 === "name") || (key2 === "groups_name")) || (key2 === "trusted"))){
const err4 = {instancePath:instancePath+"/identity/identity_header",schemaPath:"#/properties/identity/properties/identity_header/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key2},message:"must NOT have additional properties",schema:false,parentSchema:schema128.properties.identity.properties.identity_header,data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data1.name !== undefined){
let data2 = data1.name;
if(typeof data2 !== "string"){
const err5 = {instancePath:instancePath+"/identity/identity_header/name",schemaPath:"#/properties/identity/properties/identity_header/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema128.properties.identity.properties.identity_header.properties.name.type,parentSchema:schema128.properties.identity.properties.identity_header.properties.name,data:data2};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data1.groups_name !== undefined){
let data3 = data1.groups_name;
if(typeof data3 !== "string"){
const err6 = {instancePath:instancePath+"/identity/identity_header/groups_name",schemaPath:"#/properties/identity/properties/identity_header/properties/groups_name/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema128.properties.identity.properties.identity_header.properties.groups_name.type,parentSchema:schema128.properties.identity.properties.identity_header.properties.groups_name,data:data3};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data1.trusted !== undefined){
let data4 = data1.trusted;
if(Array.isArray(data4)){
if(data4.length < 1){
const err7 = {instancePath:instancePath+"/identity/identity_header/trusted",schemaPath:"#/properties/identity/properties/identity_header/properties/trusted/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema128.properties.identity.properties.identity_header.properties.trusted,data:data4};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
const len0 = data4.length;
for(let i0=0; i0<len0; i0++){
let data5 = data4[i0];
if(typeof data5 !== "string"){
const err8 = {instancePath:instancePath+"/identity/identity_header/trusted/" + i0,schemaPath:"#/properties/identity/properties/identity_header/properties/trusted/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema128.properties.identity.properties.identity_header.properties.trusted.items.type,parentSchema:schema128.properties.identity.properties.identity_header.properties.trusted.items,data:data5};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
}
else {
const err9 = {instancePath:instancePath+"/identity/identity_header/trusted",schemaPath:"#/properties/identity/properties/identity_header/properties/trusted/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema128.properties.identity.properties.identity_header.properties.trusted.type,parentSchema:schema128.properties.identity.properties.identity_header.properties.trusted,data:data4};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
}
else {
const err10 = {instancePath:instancePath+"/identity/identity_header",schemaPath:"#/properties/identity/properties/identity_header/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema128.properties.identity.properties.identity_header.type,parentSchema:schema128.properties.identity.properties.identity_header,data:data1};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
if(data0.tokens !== undefined){
let data6 = data0.tokens;
if(Array.isArray(data6)){
const len1 = data6.length;
for(let i1=0; i1<len1; i1++){
let data7 = data6[i1];
if(data7 && typeof data7 == "object" && !Array.isArray(data7)){
if(data7.name === undefined){
const err11 = {instancePath:instancePath+"/identity/tokens/" + i1,schemaPath:"#/properties/identity/properties/tokens/items/required",keyword:"required",params:{missingProperty: "name"},message:"must have required property '"+"name"+"'",schema:schema128.properties.identity.properties.tokens.items.required,parentSchema:schema128.properties.identity.properties.tokens.items,data:data7};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
if(data7.sha256 === undefined){
const err12 = {instancePath:instancePath+"/identity/tokens/" + i1,schemaPath:"#/properties/identity/properties/tokens/items/required",keyword:"required",params:{missingProperty: "sha256"},message:"must have required property '"+"sha256"+"'",schema:schema128.properties.identity.properties.tokens.items.required,parentSchema:schema128.properties.identity.properties.tokens.items,data:data7};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
for(const key3 in data7){
if(!((((key3 === "name") || (key3 === "sha256")) || (key3 === "groups")) || (key3 === "scope"))){
const err13 = {instancePath:instancePath+"/identity/tokens/" + i1,schemaPath:"#/properties/identity/properties/tokens/items/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key3},message:"must NOT have additional properties",schema:false,parentSchema:schema128.properties.identity.properties.tokens.items,data:data7};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
}
if(data7.name !== undefined){
let data8 = data7.name;
if(typeof data8 !== "string"){
const err14 = {instancePath:instancePath+"/identity/tokens/" + i1+"/name",schemaPath:"#/properties/identity/properties/tokens/items/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema128.properties.identity.properties.tokens.items.properties.name.type,parentSchema:schema128.properties.identity.properties.tokens.items.properties.name,data:data8};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
if(data7.sha256 !== undefined){
let data9 = data7.sha256;
if(typeof data9 !== "string"){
const err15 = {instancePath:instancePath+"/identity/tokens/" + i1+"/sha256",schemaPath:"#/properties/identity/properties/tokens/items/properties/sha256/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema128.properties.identity.properties.tokens.items.properties.sha256.type,parentSchema:schema128.properties.identity.properties.tokens.items.properties.sha256,data:data9};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
if(data7.groups !== undefined){
let data10 = data7.groups;
if(Array.isArray(data10)){
const len2 = data10.length;
for(let i2=0; i2<len2; i2++){
let data11 = data10[i2];
if(typeof data11 !== "string"){
const err16 = {instancePath:instancePath+"/identity/tokens/" + i1+"/groups/" + i2,schemaPath:"#/properties/identity/properties/tokens/items/properties/groups/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema128.properties.identity.properties.tokens.items.properties.groups.items.type,parentSchema:schema128.properties.identity.properties.tokens.items.properties.groups.items,data:data11};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
}
}
else {
const err17 = {instancePath:instancePath+"/identity/tokens/" + i1+"/groups",schemaPath:"#/properties/identity/properties/tokens/items/properties/groups/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema128.properties.identity.properties.tokens.items.properties.groups.type,parentSchema:schema128.properties.identity.properties.tokens.items.properties.groups,data:data10};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
}
if(data7.scope !== undefined){
let data12 = data7.scope;
if(typeof data12 === "string"){
if(!pattern13.test(data12)){
const err18 = {instancePath:instancePath+"/identity/tokens/" + i1+"/scope",schemaPath:"#/properties/identity/properties/tokens/items/properties/scope/pattern",keyword:"pattern",params:{pattern: "^.+$"},message:"must match pattern \""+"^.+$"+"\"",schema:"^.+$",parentSchema:schema128.properties.identity.properties.tokens.items.properties.scope,data:data12};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
}
else {
const err19 = {instancePath:instancePath+"/identity/tokens/" + i1+"/scope",schemaPath:"#/properties/identity/properties/tokens/items/properties/scope/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema128.properties.identity.properties.tokens.items.properties.scope.type,parentSchema:schema128.properties.identity.properties.tokens.items.properties.scope,data:data12};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
}
}
else {
const err20 = {instancePath:instancePath+"/identity/tokens/" + i1,schemaPath:"#/properties/identity/properties/tokens/items/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema128.properties.identity.properties.tokens.items.type,parentSchema:schema128.properties.identity.properties.tokens.items,data:data7};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
}
}
else {
const err21 = {instancePath:instancePath+"/identity/tokens",schemaPath:"#/properties/identity/properties/tokens/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema128.properties.identity.properties.tokens.type,parentSchema:schema128.properties.identity.properties.tokens,data:data6};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
}
if(data0.tokens_file !== undefined){
let data13 = data0.tokens_file;
if(typeof data13 !== "string"){
const err22 = {instancePath:instancePath+"/identity/tokens_file",schemaPath:"#/properties/identity/properties/tokens_file/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema128.properties.identity.properties.tokens_file.type,parentSchema:schema128.properties.identity.properties.tokens_file,data:data13};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
}
if(data0.jwt !== undefined){
let data14 = data0.jwt;
if(Array.isArray(data14)){
const len3 = data14.length;
for(let i3=0; i3<len3; i3++){
let data15 = data14[i3];
if(data15 && typeof data15 == "object" && !Array.isArray(data15)){
if(data15.issuer === undefined){
const err23 = {instancePath:instancePath+"/identity/jwt/" + i3,schemaPath:"#/properties/identity/properties/jwt/items/required",keyword:"required",params:{missingProperty: "issuer"},message:"must have required property '"+"issuer"+"'",schema:schema128.properties.identity.properties.jwt.items.required,parentSchema:schema128.properties.identity.properties.jwt.items,data:data15};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
if(data15.audiences === undefined){
const err24 = {instancePath:instancePath+"/identity/jwt/" + i3,schemaPath:"#/properties/identity/properties/jwt/items/required",keyword:"required",params:{missingProperty: "audiences"},message:"must have required property '"+"audiences"+"'",schema:schema128.properties.identity.properties.jwt.items.required,parentSchema:schema128.properties.identity.properties.jwt.items,data:data15};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
for(const key4 in data15){
if(!(((((((key4 === "issuer") || (key4 === "audiences")) || (key4 === "jwks_uri")) || (key4 === "jwks_file")) || (key4 === "name_claim")) || (key4 === "groups_claim")) || (key4 === "clock_skew_s"))){
const err25 = {instancePath:instancePath+"/identity/jwt/" + i3,schemaPath:"#/properties/identity/properties/jwt/items/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key4},message:"must NOT have additional properties",schema:false,parentSchema:schema128.properties.identity.properties.jwt.items,data:data15};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
}
if(data15.issuer !== undefined){
let data16 = data15.issuer;
if(typeof data16 !== "string"){
const err26 = {instancePath:instancePath+"/identity/jwt/" + i3+"/issuer",schemaPath:"#/properties/identity/properties/jwt/items/properties/issuer/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema128.properties.identity.properties.jwt.items.properties.issuer.type,parentSchema:schema128.properties.identity.properties.jwt.items.properties.issuer,data:data16};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
}
if(data15.audiences !== undefined){
let data17 = data15.audiences;
if(Array.isArray(data17)){
if(data17.length < 1){
const err27 = {instancePath:instancePath+"/identity/jwt/" + i3+"/audiences",schemaPath:"#/properties/identity/properties/jwt/items/properties/audiences/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema128.properties.identity.properties.jwt.items.properties.audiences,data:data17};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
const len4 = data17.length;
for(let i4=0; i4<len4; i4++){
let data18 = data17[i4];
if(typeof data18 !== "string"){
const err28 = {instancePath:instancePath+"/identity/jwt/" + i3+"/audiences/" + i4,schemaPath:"#/properties/identity/properties/jwt/items/properties/audiences/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema128.properties.identity.properties.jwt.items.properties.audiences.items.type,parentSchema:schema128.properties.identity.properties.jwt.items.properties.audiences.items,data:data18};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
}
}
else {
const err29 = {instancePath:instancePath+"/identity/jwt/" + i3+"/audiences",schemaPath:"#/properties/identity/properties/jwt/items/properties/audiences/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema128.properties.identity.properties.jwt.items.properties.audiences.type,parentSchema:schema128.properties.identity.properties.jwt.items.properties.audiences,data:data17};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
}
if(data15.jwks_uri !== undefined){
let data19 = data15.jwks_uri;
if(typeof data19 !== "string"){
const err30 = {instancePath:instancePath+"/identity/jwt/" + i3+"/jwks_uri",schemaPath:"#/properties/identity/properties/jwt/items/properties/jwks_uri/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema128.properties.identity.properties.jwt.items.properties.jwks_uri.type,parentSchema:schema128.properties.identity.properties.jwt.items.properties.jwks_uri,data:data19};
if(vErrors === null){
vErrors = [err30];
}
else {
vErrors.push(err30);
}
errors++;
}
}
if(data15.jwks_file !== undefined){
let data20 = data15.jwks_file;
if(typeof data20 !== "string"){
const err31 = {instancePath:instancePath+"/identity/jwt/" + i3+"/jwks_file",schemaPath:"#/properties/identity/properties/jwt/items/properties/jwks_file/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema128.properties.identity.properties.jwt.items.properties.jwks_file.type,parentSchema:schema128.properties.identity.properties.jwt.items.properties.jwks_file,data:data20};
if(vErrors === null){
vErrors = [err31];
}
else {
vErrors.push(err31);
}
errors++;
}
}
if(data15.name_claim !== undefined){
let data21 = data15.name_claim;
if(typeof data21 !== "string"){
const err32 = {instancePath:instancePath+"/identity/jwt/" + i3+"/name_claim",schemaPath:"#/properties/identity/properties/jwt/items/properties/name_claim/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema128.properties.identity.properties.jwt.items.properties.name_claim.type,parentSchema:schema128.properties.identity.properties.jwt.items.properties.name_claim,data:data21};
if(vErrors === null){
vErrors = [err32];
}
else {
vErrors.push(err32);
}
errors++;
}
}
if(data15.groups_claim !== undefined){
let data22 = data15.groups_claim;
if(typeof data22 !== "string"){
const err33 = {instancePath:instancePath+"/identity/jwt/" + i3+"/groups_claim",schemaPath:"#/properties/identity/properties/jwt/items/properties/groups_claim/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema128.properties.identity.properties.jwt.items.properties.groups_claim.type,parentSchema:schema128.properties.identity.properties.jwt.items.properties.groups_claim,data:data22};
if(vErrors === null){
vErrors = [err33];
}
else {
vErrors.push(err33);
}
errors++;
}
}
if(data15.clock_skew_s !== undefined){
let data23 = data15.clock_skew_s;
if((!(((typeof data23 == "number") && (!(data23 % 1) && !isNaN(data23))) && (isFinite(data23)))) && (typeof data23 !== "string")){
const err34 = {instancePath:instancePath+"/identity/jwt/" + i3+"/clock_skew_s",schemaPath:"#/properties/identity/properties/jwt/items/properties/clock_skew_s/type",keyword:"type",params:{type: schema128.properties.identity.properties.jwt.items.properties.clock_skew_s.type},message:"must be integer,string",schema:schema128.properties.identity.properties.jwt.items.properties.clock_skew_s.type,parentSchema:schema128.properties.identity.properties.jwt.items.properties.clock_skew_s,data:data23};
if(vErrors === null){
vErrors = [err34];
}
else {
vErrors.push(err34);
}
errors++;
}
const reason0 = checkScalar.call(this, "duration", data23, schema128.properties.identity.properties.jwt.items.properties.clock_skew_s, instancePath+"/identity/jwt/" + i3+"/clock_skew_s");
if(reason0 !== undefined){
const err35 = {instancePath:instancePath+"/identity/jwt/" + i3+"/clock_skew_s",schemaPath:"#/properties/identity/properties/jwt/items/properties/clock_skew_s/x-value",keyword:"x-value",params:{},message:reason0,schema:"duration",parentSchema:schema128.properties.identity.properties.jwt.items.properties.clock_skew_s,data:data23};
if(vErrors === null){
vErrors = [err35];
}
else {
vErrors.push(err35);
}
errors++;
}
}
}
else {
const err36 = {instancePath:instancePath+"/identity/jwt/" + i3,schemaPath:"#/properties/identity/properties/jwt/items/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema128.properties.identity.properties.jwt.items.type,parentSchema:schema128.properties.identity.properties.jwt.items,data:data15};
if(vErrors === null){
vErrors = [err36];
}
else {
vErrors.push(err36);
}
errors++;
}
}
}
else {
const err37 = {instancePath:instancePath+"/identity/jwt",schemaPath:"#/properties/identity/properties/jwt/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema128.properties.identity.properties.jwt.type,parentSchema:schema128.properties.identity.properties.jwt,data:data14};
if(vErrors === null){
vErrors = [err37];
}
else {
vErrors.push(err37);
}
errors++;
}
}
if(data0.oidc !== undefined){
let data24 = data0.oidc;
if(data24 && typeof data24 == "object" && !Array.isArray(data24)){
if(data24.issuer === undefined){
const err38 = {instancePath:instancePath+"/identity/oidc",schemaPath:"#/properties/identity/properties/oidc/required",keyword:"required",params:{missingProperty: "issuer"},message:"must have required property '"+"issuer"+"'",schema:schema128.properties.identity.properties.oidc.required,parentSchema:schema128.properties.identity.properties.oidc,data:data24};
if(vErrors === null){
vErrors = [err38];
}
else {
vErrors.push(err38);
}
errors++;
}
if(data24.client_id === undefined){
const err39 = {instancePath:instancePath+"/identity/oidc",schemaPath:"#/properties/identity/properties/oidc/required",keyword:"required",params:{missingProperty: "client_id"},message:"must have required property '"+"client_id"+"'",schema:schema128.properties.identity.properties.oidc.required,parentSchema:schema128.properties.identity.properties.oidc,data:data24};
if(vErrors === null){
vErrors = [err39];
}
else {
vErrors.push(err39);
}
errors++;
}
for(const key5 in data24){
if(!((((((((key5 === "issuer") || (key5 === "client_id")) || (key5 === "client_secret")) || (key5 === "label")) || (key5 === "scopes")) || (key5 === "name_claim")) || (key5 === "groups_claim")) || (key5 === "clock_skew_s"))){
const err40 = {instancePath:instancePath+"/identity/oidc",schemaPath:"#/properties/identity/properties/oidc/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key5},message:"must NOT have additional properties",schema:false,parentSchema:schema128.properties.identity.properties.oidc,data:data24};
if(vErrors === null){
vErrors = [err40];
}
else {
vErrors.push(err40);
}
errors++;
}
}
if(data24.issuer !== undefined){
let data25 = data24.issuer;
if(typeof data25 !== "string"){
const err41 = {instancePath:instancePath+"/identity/oidc/issuer",schemaPath:"#/properties/identity/properties/oidc/properties/issuer/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema128.properties.identity.properties.oidc.properties.issuer.type,parentSchema:schema128.properties.identity.properties.oidc.properties.issuer,data:data25};
if(vErrors === null){
vErrors = [err41];
}
else {
vErrors.push(err41);
}
errors++;
}
}
if(data24.client_id !== undefined){
let data26 = data24.client_id;
if(typeof data26 === "string"){
if(!pattern13.test(data26)){
const err42 = {instancePath:instancePath+"/identity/oidc/client_id",schemaPath:"#/properties/identity/properties/oidc/properties/client_id/pattern",keyword:"pattern",params:{pattern: "^.+$"},message:"must match pattern \""+"^.+$"+"\"",schema:"^.+$",parentSchema:schema128.properties.identity.properties.oidc.properties.client_id,data:data26};
if(vErrors === null){
vErrors = [err42];
}
else {
vErrors.push(err42);
}
errors++;
}
}
else {
const err43 = {instancePath:instancePath+"/identity/oidc/client_id",schemaPath:"#/properties/identity/properties/oidc/properties/client_id/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema128.properties.identity.properties.oidc.properties.client_id.type,parentSchema:schema128.properties.identity.properties.oidc.properties.client_id,data:data26};
if(vErrors === null){
vErrors = [err43];
}
else {
vErrors.push(err43);
}
errors++;
}
}
if(data24.client_secret !== undefined){
let data27 = data24.client_secret;
if(typeof data27 !== "string"){
const err44 = {instancePath:instancePath+"/identity/oidc/client_secret",schemaPath:"#/properties/identity/properties/oidc/properties/client_secret/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema128.properties.identity.properties.oidc.properties.client_secret.type,parentSchema:schema128.properties.identity.properties.oidc.properties.client_secret,data:data27};
if(vErrors === null){
vErrors = [err44];
}
else {
vErrors.push(err44);
}
errors++;
}
}
if(data24.label !== undefined){
let data28 = data24.label;
if(typeof data28 !== "string"){
const err45 = {instancePath:instancePath+"/identity/oidc/label",schemaPath:"#/properties/identity/properties/oidc/properties/label/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema128.properties.identity.properties.oidc.properties.label.type,parentSchema:schema128.properties.identity.properties.oidc.properties.label,data:data28};
if(vErrors === null){
vErrors = [err45];
}
else {
vErrors.push(err45);
}
errors++;
}
}
if(data24.scopes !== undefined){
let data29 = data24.scopes;
if(Array.isArray(data29)){
const len5 = data29.length;
for(let i5=0; i5<len5; i5++){
let data30 = data29[i5];
if(typeof data30 !== "string"){
const err46 = {instancePath:instancePath+"/identity/oidc/scopes/" + i5,schemaPath:"#/properties/identity/properties/oidc/properties/scopes/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema128.properties.identity.properties.oidc.properties.scopes.items.type,parentSchema:schema128.properties.identity.properties.oidc.properties.scopes.items,data:data30};
if(vErrors === null){
vErrors = [err46];
}
else {
vErrors.push(err46);
}
errors++;
}
}
}
else {
const err47 = {instancePath:instancePath+"/identity/oidc/scopes",schemaPath:"#/properties/identity/properties/oidc/properties/scopes/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema128.properties.identity.properties.oidc.properties.scopes.type,parentSchema:schema128.properties.identity.properties.oidc.properties.scopes,data:data29};
if(vErrors === null){
vErrors = [err47];
}
else {
vErrors.push(err47);
}
errors++;
}
}
if(data24.name_claim !== undefined){
let data31 = data24.name_claim;
if(typeof data31 !== "string"){
const err48 = {instancePath:instancePath+"/identity/oidc/name_claim",schemaPath:"#/properties/identity/properties/oidc/properties/name_claim/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema128.properties.identity.properties.oidc.properties.name_claim.type,parentSchema:schema128.properties.identity.properties.oidc.properties.name_claim,data:data31};
if(vErrors === null){
vErrors = [err48];
}
else {
vErrors.push(err48);
}
errors++;
}
}
if(data24.groups_claim !== undefined){
let data32 = data24.groups_claim;
if(typeof data32 !== "string"){
const err49 = {instancePath:instancePath+"/identity/oidc/groups_claim",schemaPath:"#/properties/identity/properties/oidc/properties/groups_claim/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema128.properties.identity.properties.oidc.properties.groups_claim.type,parentSchema:schema128.properties.identity.properties.oidc.properties.groups_claim,data:data32};
if(vErrors === null){
vErrors = [err49];
}
else {
vErrors.push(err49);
}
errors++;
}
}
if(data24.clock_skew_s !== undefined){
let data33 = data24.clock_skew_s;
if((!(((typeof data33 == "number") && (!(data33 % 1) && !isNaN(data33))) && (isFinite(data33)))) && (typeof data33 !== "string")){
const err50 = {instancePath:instancePath+"/identity/oidc/clock_skew_s",schemaPath:"#/properties/identity/properties/oidc/properties/clock_skew_s/type",keyword:"type",params:{type: schema128.properties.identity.properties.oidc.properties.clock_skew_s.type},message:"must be integer,string",schema:schema128.properties.identity.properties.oidc.properties.clock_skew_s.type,parentSchema:schema128.properties.identity.properties.oidc.properties.clock_skew_s,data:data33};
if(vErrors === null){
vErrors = [err50];
}
else {
vErrors.push(err50);
}
errors++;
}
const reason1 = checkScalar.call(this, "duration", data33, schema128.properties.identity.properties.oidc.properties.clock_skew_s, instancePath+"/identity/oidc/clock_skew_s");
if(reason1 !== undefined){
const err51 = {instancePath:instancePath+"/identity/oidc/clock_skew_s",schemaPath:"#/properties/identity/properties/oidc/properties/clock_skew_s/x-value",keyword:"x-value",params:{},message:reason1,schema:"duration",parentSchema:schema128.properties.identity.properties.oidc.properties.clock_skew_s,data:data33};
if(vErrors === null){
vErrors = [err51];
}
else {
vErrors.push(err51);
}
errors++;
}
}
}
else {
const err52 = {instancePath:instancePath+"/identity/oidc",schemaPath:"#/properties/identity/properties/oidc/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema128.properties.identity.properties.oidc.type,parentSchema:schema128.properties.identity.properties.oidc,data:data24};
if(vErrors === null){
vErrors = [err52];
}
else {
vErrors.push(err52);
}
errors++;
}
}
if(data0.htpasswd_file !== undefined){
let data34 = data0.htpasswd_file;
if(typeof data34 !== "string"){
const err53 = {instancePath:instancePath+"/identity/htpasswd_file",schemaPath:"#/properties/identity/properties/htpasswd_file/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema128.properties.identity.properties.htpasswd_file.type,parentSchema:schema128.properties.identity.properties.htpasswd_file,data:data34};
if(vErrors === null){
vErrors = [err53];
}
else {
vErrors.push(err53);
}
errors++;
}
}
if(data0.client_certificates !== undefined){
let data35 = data0.client_certificates;
if(data35 && typeof data35 == "object" && !Array.isArray(data35)){
for(const key6 in data35){
if(!((key6 === "name") || (key6 === "groups"))){
const err54 = {instancePath:instancePath+"/identity/client_certificates",schemaPath:"#/properties/identity/properties/client_certificates/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key6},message:"must NOT have additional properties",schema:false,parentSchema:schema128.properties.identity.properties.client_certificates,data:data35};
if(vErrors === null){
vErrors = [err54];
}
else {
vErrors.push(err54);
}
errors++;
}
}
if(data35.name !== undefined){
let data36 = data35.name;
if(typeof data36 !== "string"){
const err55 = {instancePath:instancePath+"/identity/client_certificates/name",schemaPath:"#/properties/identity/properties/client_certificates/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema128.properties.identity.properties.client_certificates.properties.name.type,parentSchema:schema128.properties.identity.properties.client_certificates.properties.name,data:data36};
if(vErrors === null){
vErrors = [err55];
}
else {
vErrors.push(err55);
}
errors++;
}
if(!((((data36 === "common_name") || (data36 === "dns")) || (data36 === "uri")) || (data36 === "email"))){
const err56 = {instancePath:instancePath+"/identity/client_certificates/name",schemaPath:"#/properties/identity/properties/client_certificates/properties/name/enum",keyword:"enum",params:{allowedValues: schema128.properties.identity.properties.client_certificates.properties.name.enum},message:"must be equal to one of the allowed values",schema:schema128.properties.identity.properties.client_certificates.properties.name.enum,parentSchema:schema128.properties.identity.properties.client_certificates.properties.name,data:data36};
if(vErrors === null){
vErrors = [err56];
}
else {
vErrors.push(err56);
}
errors++;
}
}
if(data35.groups !== undefined){
let data37 = data35.groups;
if(typeof data37 !== "string"){
const err57 = {instancePath:instancePath+"/identity/client_certificates/groups",schemaPath:"#/properties/identity/properties/client_certificates/properties/groups/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema128.properties.identity.properties.client_certificates.properties.groups.type,parentSchema:schema128.properties.identity.properties.client_certificates.properties.groups,data:data37};
if(vErrors === null){
vErrors = [err57];
}
else {
vErrors.push(err57);
}
errors++;
}
if(!(((data37 === "none") || (data37 === "organization")) || (data37 === "organizational_unit"))){
const err58 = {instancePath:instancePath+"/identity/client_certificates/groups",schemaPath:"#/properties/identity/properties/client_certificates/properties/groups/enum",keyword:"enum",params:{allowedValues: schema128.properties.identity.properties.client_certificates.properties.groups.enum},message:"must be equal to one of the allowed values",schema:schema128.properties.identity.properties.client_certificates.properties.groups.enum,parentSchema:schema128.properties.identity.properties.client_certificates.properties.groups,data:data37};
if(vErrors === null){
vErrors = [err58];
}
else {
vErrors.push(err58);
}
errors++;
}
}
}
else {
const err59 = {instancePath:instancePath+"/identity/client_certificates",schemaPath:"#/properties/identity/properties/client_certificates/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema128.properties.identity.properties.client_certificates.type,parentSchema:schema128.properties.identity.properties.client_certificates,data:data35};
if(vErrors === null){
vErrors = [err59];
}
else {
vErrors.push(err59);
}
errors++;
}
}
}
else {
const err60 = {instancePath:instancePath+"/identity",schemaPath:"#/properties/identity/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema128.properties.identity.type,parentSchema:schema128.properties.identity,data:data0};
if(vErrors === null){
vErrors = [err60];
}
else {
vErrors.push(err60);
}
errors++;
}
}
if(data.access !== undefined){
let data38 = data.access;
if(Array.isArray(data38)){
const len6 = data38.length;
for(let i6=0; i6<len6; i6++){
let data39 = data38[i6];
if(data39 && typeof data39 == "object" && !Array.isArray(data39)){
if(data39.may === undefined){
const err61 = {instancePath:instancePath+"/access/" + i6,schemaPath:"#/properties/access/items/required",keyword:"required",params:{missingProperty: "may"},message:"must have required property '"+"may"+"'",schema:schema128.properties.access.items.required,parentSchema:schema128.properties.access.items,data:data39};
if(vErrors === null){
vErrors = [err61];
}
else {
vErrors.push(err61);
}
errors++;
}
for(const key7 in data39){
if(!((((((((key7 === "may") || (key7 === "instances")) || (key7 === "schedulers")) || (key7 === "anonymous")) || (key7 === "names")) || (key7 === "groups")) || (key7 === "claims")) || (key7 === "by"))){
const err62 = {instancePath:instancePath+"/access/" + i6,schemaPath:"#/properties/access/items/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key7},message:"must NOT have additional properties",schema:false,parentSchema:schema128.properties.access.items,data:data39};
if(vErrors === null){
vErrors = [err62];
}
else {
vErrors.push(err62);
}
errors++;
}
}
if(data39.may !== undefined){
let data40 = data39.may;
if(Array.isArray(data40)){
if(data40.length < 1){
const err63 = {instancePath:instancePath+"/access/" + i6+"/may",schemaPath:"#/properties/access/items/properties/may/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema128.properties.access.items.properties.may,data:data40};
if(vErrors === null){
vErrors = [err63];
}
else {
vErrors.push(err63);
}
errors++;
}
const len7 = data40.length;
for(let i7=0; i7<len7; i7++){
let data41 = data40[i7];
if(typeof data41 !== "string"){
const err64 = {instancePath:instancePath+"/access/" + i6+"/may/" + i7,schemaPath:"#/properties/access/items/properties/may/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema128.properties.access.items.properties.may.items.type,parentSchema:schema128.properties.access.items.properties.may.items,data:data41};
if(vErrors === null){
vErrors = [err64];
}
else {
vErrors.push(err64);
}
errors++;
}
const reason2 = checkWord.call(this, schema128.properties.access.items.properties.may.items["x-words"], data41, schema128.properties.access.items.properties.may.items, instancePath+"/access/" + i6+"/may/" + i7);
if(reason2 !== undefined){
const err65 = {instancePath:instancePath+"/access/" + i6+"/may/" + i7,schemaPath:"#/properties/access/items/properties/may/items/x-words",keyword:"x-words",params:{},message:reason2,schema:schema128.properties.access.items.properties.may.items["x-words"],parentSchema:schema128.properties.access.items.properties.may.items,data:data41};
if(vErrors === null){
vErrors = [err65];
}
else {
vErrors.push(err65);
}
errors++;
}
}
}
else {
const err66 = {instancePath:instancePath+"/access/" + i6+"/may",schemaPath:"#/properties/access/items/properties/may/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema128.properties.access.items.properties.may.type,parentSchema:schema128.properties.access.items.properties.may,data:data40};
if(vErrors === null){
vErrors = [err66];
}
else {
vErrors.push(err66);
}
errors++;
}
}
if(data39.instances !== undefined){
let data42 = data39.instances;
if(Array.isArray(data42)){
const len8 = data42.length;
for(let i8=0; i8<len8; i8++){
let data43 = data42[i8];
if(typeof data43 !== "string"){
const err67 = {instancePath:instancePath+"/access/" + i6+"/instances/" + i8,schemaPath:"#/properties/access/items/properties/instances/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema128.properties.access.items.properties.instances.items.type,parentSchema:schema128.properties.access.items.properties.instances.items,data:data43};
if(vErrors === null){
vErrors = [err67];
}
else {
vErrors.push(err67);
}
errors++;
}
}
}
else {
const err68 = {instancePath:instancePath+"/access/" + i6+"/instances",schemaPath:"#/properties/access/items/properties/instances/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema128.properties.access.items.properties.instances.type,parentSchema:schema128.properties.access.items.properties.instances,data:data42};
if(vErrors === null){
vErrors = [err68];
}
else {
vErrors.push(err68);
}
errors++;
}
}
if(data39.schedulers !== undefined){
let data44 = data39.schedulers;
if(Array.isArray(data44)){
const len9 = data44.length;
for(let i9=0; i9<len9; i9++){
let data45 = data44[i9];
if(typeof data45 !== "string"){
const err69 = {instancePath:instancePath+"/access/" + i6+"/schedulers/" + i9,schemaPath:"#/properties/access/items/properties/schedulers/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema128.properties.access.items.properties.schedulers.items.type,parentSchema:schema128.properties.access.items.properties.schedulers.items,data:data45};
if(vErrors === null){
vErrors = [err69];
}
else {
vErrors.push(err69);
}
errors++;
}
}
}
else {
const err70 = {instancePath:instancePath+"/access/" + i6+"/schedulers",schemaPath:"#/properties/access/items/properties/schedulers/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema128.properties.access.items.properties.schedulers.type,parentSchema:schema128.properties.access.items.properties.schedulers,data:data44};
if(vErrors === null){
vErrors = [err70];
}
else {
vErrors.push(err70);
}
errors++;
}
}
if(data39.anonymous !== undefined){
let data46 = data39.anonymous;
if((typeof data46 !== "boolean") && (typeof data46 !== "string")){
const err71 = {instancePath:instancePath+"/access/" + i6+"/anonymous",schemaPath:"#/properties/access/items/properties/anonymous/type",keyword:"type",params:{type: schema128.properties.access.items.properties.anonymous.type},message:"must be boolean,string",schema:schema128.properties.access.items.properties.anonymous.type,parentSchema:schema128.properties.access.items.properties.anonymous,data:data46};
if(vErrors === null){
vErrors = [err71];
}
else {
vErrors.push(err71);
}
errors++;
}
const reason3 = checkScalar.call(this, "bool", data46, schema128.properties.access.items.properties.anonymous, instancePath+"/access/" + i6+"/anonymous");
if(reason3 !== undefined){
const err72 = {instancePath:instancePath+"/access/" + i6+"/anonymous",schemaPath:"#/properties/access/items/properties/anonymous/x-value",keyword:"x-value",params:{},message:reason3,schema:"bool",parentSchema:schema128.properties.access.items.properties.anonymous,data:data46};
if(vErrors === null){
vErrors = [err72];
}
else {
vErrors.push(err72);
}
errors++;
}
}
if(data39.names !== undefined){
let data47 = data39.names;
if(Array.isArray(data47)){
if(data47.length < 1){
const err73 = {instancePath:instancePath+"/access/" + i6+"/names",schemaPath:"#/properties/access/items/properties/names/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema128.properties.access.items.properties.names,data:data47};
if(vErrors === null){
vErrors = [err73];
}
else {
vErrors.push(err73);
}
errors++;
}
const len10 = data47.length;
for(let i10=0; i10<len10; i10++){
let data48 = data47[i10];
if(typeof data48 !== "string"){
const err74 = {instancePath:instancePath+"/access/" + i6+"/names/" + i10,schemaPath:"#/properties/access/items/properties/names/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema128.properties.access.items.properties.names.items.type,parentSchema:schema128.properties.access.items.properties.names.items,data:data48};
if(vErrors === null){
vErrors = [err74];
}
else {
vErrors.push(err74);
}
errors++;
}
}
}
else {
const err75 = {instancePath:instancePath+"/access/" + i6+"/names",schemaPath:"#/properties/access/items/properties/names/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema128.properties.access.items.properties.names.type,parentSchema:schema128.properties.access.items.properties.names,data:data47};
if(vErrors === null){
vErrors = [err75];
}
else {
vErrors.push(err75);
}
errors++;
}
}
if(data39.groups !== undefined){
let data49 = data39.groups;
if(Array.isArray(data49)){
if(data49.length < 1){
const err76 = {instancePath:instancePath+"/access/" + i6+"/groups",schemaPath:"#/properties/access/items/properties/groups/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema128.properties.access.items.properties.groups,data:data49};
if(vErrors === null){
vErrors = [err76];
}
else {
vErrors.push(err76);
}
errors++;
}
const len11 = data49.length;
for(let i11=0; i11<len11; i11++){
let data50 = data49[i11];
if(typeof data50 !== "string"){
const err77 = {instancePath:instancePath+"/access/" + i6+"/groups/" + i11,schemaPath:"#/properties/access/items/properties/groups/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema128.properties.access.items.properties.groups.items.type,parentSchema:schema128.properties.access.items.properties.groups.items,data:data50};
if(vErrors === null){
vErrors = [err77];
}
else {
vErrors.push(err77);
}
errors++;
}
}
}
else {
const err78 = {instancePath:instancePath+"/access/" + i6+"/groups",schemaPath:"#/properties/access/items/properties/groups/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema128.properties.access.items.properties.groups.type,parentSchema:schema128.properties.access.items.properties.groups,data:data49};
if(vErrors === null){
vErrors = [err78];
}
else {
vErrors.push(err78);
}
errors++;
}
}
if(data39.claims !== undefined){
let data51 = data39.claims;
if(data51 && typeof data51 == "object" && !Array.isArray(data51)){
for(const key8 in data51){
let data52 = data51[key8];
if(typeof data52 !== "string"){
const err79 = {instancePath:instancePath+"/access/" + i6+"/claims/" + key8.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/access/items/properties/claims/additionalProperties/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema128.properties.access.items.properties.claims.additionalProperties.type,parentSchema:schema128.properties.access.items.properties.claims.additionalProperties,data:data52};
if(vErrors === null){
vErrors = [err79];
}
else {
vErrors.push(err79);
}
errors++;
}
}
}
else {
const err80 = {instancePath:instancePath+"/access/" + i6+"/claims",schemaPath:"#/properties/access/items/properties/claims/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema128.properties.access.items.properties.claims.type,parentSchema:schema128.properties.access.items.properties.claims,data:data51};
if(vErrors === null){
vErrors = [err80];
}
else {
vErrors.push(err80);
}
errors++;
}
}
if(data39.by !== undefined){
let data53 = data39.by;
if(Array.isArray(data53)){
if(data53.length < 1){
const err81 = {instancePath:instancePath+"/access/" + i6+"/by",schemaPath:"#/properties/access/items/properties/by/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema128.properties.access.items.properties.by,data:data53};
if(vErrors === null){
vErrors = [err81];
}
else {
vErrors.push(err81);
}
errors++;
}
const len12 = data53.length;
for(let i12=0; i12<len12; i12++){
let data54 = data53[i12];
if(typeof data54 !== "string"){
const err82 = {instancePath:instancePath+"/access/" + i6+"/by/" + i12,schemaPath:"#/properties/access/items/properties/by/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema128.properties.access.items.properties.by.items.type,parentSchema:schema128.properties.access.items.properties.by.items,data:data54};
if(vErrors === null){
vErrors = [err82];
}
else {
vErrors.push(err82);
}
errors++;
}
if(!(((((data54 === "header") || (data54 === "token")) || (data54 === "jwt")) || (data54 === "basic")) || (data54 === "certificate"))){
const err83 = {instancePath:instancePath+"/access/" + i6+"/by/" + i12,schemaPath:"#/properties/access/items/properties/by/items/enum",keyword:"enum",params:{allowedValues: schema128.properties.access.items.properties.by.items.enum},message:"must be equal to one of the allowed values",schema:schema128.properties.access.items.properties.by.items.enum,parentSchema:schema128.properties.access.items.properties.by.items,data:data54};
if(vErrors === null){
vErrors = [err83];
}
else {
vErrors.push(err83);
}
errors++;
}
}
}
else {
const err84 = {instancePath:instancePath+"/access/" + i6+"/by",schemaPath:"#/properties/access/items/properties/by/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema128.properties.access.items.properties.by.type,parentSchema:schema128.properties.access.items.properties.by,data:data53};
if(vErrors === null){
vErrors = [err84];
}
else {
vErrors.push(err84);
}
errors++;
}
}
}
else {
const err85 = {instancePath:instancePath+"/access/" + i6,schemaPath:"#/properties/access/items/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema128.properties.access.items.type,parentSchema:schema128.properties.access.items,data:data39};
if(vErrors === null){
vErrors = [err85];
}
else {
vErrors.push(err85);
}
errors++;
}
}
}
else {
const err86 = {instancePath:instancePath+"/access",schemaPath:"#/properties/access/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema128.properties.access.type,parentSchema:schema128.properties.access,data:data38};
if(vErrors === null){
vErrors = [err86];
}
else {
vErrors.push(err86);
}
errors++;
}
}
if(data.scopes !== undefined){
let data55 = data.scopes;
if(data55 && typeof data55 == "object" && !Array.isArray(data55)){
for(const key9 in data55){
if(!(((key9 === "rules") || (key9 === "max_bytes")) || (key9 === "scope_days"))){
const err87 = {instancePath:instancePath+"/scopes",schemaPath:"#/properties/scopes/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key9},message:"must NOT have additional properties",schema:false,parentSchema:schema128.properties.scopes,data:data55};
if(vErrors === null){
vErrors = [err87];
}
else {
vErrors.push(err87);
}
errors++;
}
}
if(data55.rules !== undefined){
let data56 = data55.rules;
if(Array.isArray(data56)){
const len13 = data56.length;
for(let i13=0; i13<len13; i13++){
let data57 = data56[i13];
if(data57 && typeof data57 == "object" && !Array.isArray(data57)){
if(data57.scope === undefined){
const err88 = {instancePath:instancePath+"/scopes/rules/" + i13,schemaPath:"#/properties/scopes/properties/rules/items/required",keyword:"required",params:{missingProperty: "scope"},message:"must have required property '"+"scope"+"'",schema:schema128.properties.scopes.properties.rules.items.required,parentSchema:schema128.properties.scopes.properties.rules.items,data:data57};
if(vErrors === null){
vErrors = [err88];
}
else {
vErrors.push(err88);
}
errors++;
}
for(const key10 in data57){
if(!((((((((key10 === "scope") || (key10 === "unless")) || (key10 === "instances")) || (key10 === "anonymous")) || (key10 === "names")) || (key10 === "groups")) || (key10 === "claims")) || (key10 === "by"))){
const err89 = {instancePath:instancePath+"/scopes/rules/" + i13,schemaPath:"#/properties/scopes/properties/rules/items/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key10},message:"must NOT have additional properties",schema:false,parentSchema:schema128.properties.scopes.properties.rules.items,data:data57};
if(vErrors === null){
vErrors = [err89];
}
else {
vErrors.push(err89);
}
errors++;
}
}
if(data57.scope !== undefined){
let data58 = data57.scope;
if(typeof data58 !== "string"){
const err90 = {instancePath:instancePath+"/scopes/rules/" + i13+"/scope",schemaPath:"#/properties/scopes/properties/rules/items/properties/scope/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema128.properties.scopes.properties.rules.items.properties.scope.type,parentSchema:schema128.properties.scopes.properties.rules.items.properties.scope,data:data58};
if(vErrors === null){
vErrors = [err90];
}
else {
vErrors.push(err90);
}
errors++;
}
}
if(data57.unless !== undefined){
let data59 = data57.unless;
if(data59 && typeof data59 == "object" && !Array.isArray(data59)){
for(const key11 in data59){
let data60 = data59[key11];
if(typeof data60 !== "string"){
const err91 = {instancePath:instancePath+"/scopes/rules/" + i13+"/unless/" + key11.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/scopes/properties/rules/items/properties/unless/additionalProperties/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema128.properties.scopes.properties.rules.items.properties.unless.additionalProperties.type,parentSchema:schema128.properties.scopes.properties.rules.items.properties.unless.additionalProperties,data:data60};
if(vErrors === null){
vErrors = [err91];
}
else {
vErrors.push(err91);
}
errors++;
}
}
}
else {
const err92 = {instancePath:instancePath+"/scopes/rules/" + i13+"/unless",schemaPath:"#/properties/scopes/properties/rules/items/properties/unless/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema128.properties.scopes.properties.rules.items.properties.unless.type,parentSchema:schema128.properties.scopes.properties.rules.items.properties.unless,data:data59};
if(vErrors === null){
vErrors = [err92];
}
else {
vErrors.push(err92);
}
errors++;
}
}
if(data57.instances !== undefined){
let data61 = data57.instances;
if(Array.isArray(data61)){
const len14 = data61.length;
for(let i14=0; i14<len14; i14++){
let data62 = data61[i14];
if(typeof data62 !== "string"){
const err93 = {instancePath:instancePath+"/scopes/rules/" + i13+"/instances/" + i14,schemaPath:"#/properties/scopes/properties/rules/items/properties/instances/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema128.properties.scopes.properties.rules.items.properties.instances.items.type,parentSchema:schema128.properties.scopes.properties.rules.items.properties.instances.items,data:data62};
if(vErrors === null){
vErrors = [err93];
}
else {
vErrors.push(err93);
}
errors++;
}
}
}
else {
const err94 = {instancePath:instancePath+"/scopes/rules/" + i13+"/instances",schemaPath:"#/properties/scopes/properties/rules/items/properties/instances/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema128.properties.scopes.properties.rules.items.properties.instances.type,parentSchema:schema128.properties.scopes.properties.rules.items.properties.instances,data:data61};
if(vErrors === null){
vErrors = [err94];
}
else {
vErrors.push(err94);
}
errors++;
}
}
if(data57.anonymous !== undefined){
let data63 = data57.anonymous;
if((typeof data63 !== "boolean") && (typeof data63 !== "string")){
const err95 = {instancePath:instancePath+"/scopes/rules/" + i13+"/anonymous",schemaPath:"#/properties/scopes/properties/rules/items/properties/anonymous/type",keyword:"type",params:{type: schema128.properties.scopes.properties.rules.items.properties.anonymous.type},message:"must be boolean,string",schema:schema128.properties.scopes.properties.rules.items.properties.anonymous.type,parentSchema:schema128.properties.scopes.properties.rules.items.properties.anonymous,data:data63};
if(vErrors === null){
vErrors = [err95];
}
else {
vErrors.push(err95);
}
errors++;
}
const reason4 = checkScalar.call(this, "bool", data63, schema128.properties.scopes.properties.rules.items.properties.anonymous, instancePath+"/scopes/rules/" + i13+"/anonymous");
if(reason4 !== undefined){
const err96 = {instancePath:instancePath+"/scopes/rules/" + i13+"/anonymous",schemaPath:"#/properties/scopes/properties/rules/items/properties/anonymous/x-value",keyword:"x-value",params:{},message:reason4,schema:"bool",parentSchema:schema128.properties.scopes.properties.rules.items.properties.anonymous,data:data63};
if(vErrors === null){
vErrors = [err96];
}
else {
vErrors.push(err96);
}
errors++;
}
}
if(data57.names !== undefined){
if(!(validate294.call(this, data57.names, {instancePath:instancePath+"/scopes/rules/" + i13+"/names",parentData:data57,parentDataProperty:"names",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate294.errors);
errors = vErrors.length;
}
}
if(data57.groups !== undefined){
if(!(validate296.call(this, data57.groups, {instancePath:instancePath+"/scopes/rules/" + i13+"/groups",parentData:data57,parentDataProperty:"groups",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate296.errors);
errors = vErrors.length;
}
}
if(data57.claims !== undefined){
if(!(validate298.call(this, data57.claims, {instancePath:instancePath+"/scopes/rules/" + i13+"/claims",parentData:data57,parentDataProperty:"claims",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate298.errors);
errors = vErrors.length;
}
}
if(data57.by !== undefined){
if(!(validate300.call(this, data57.by, {instancePath:instancePath+"/scopes/rules/" + i13+"/by",parentData:data57,parentDataProperty:"by",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate300.errors);
errors = vErrors.length;
}
}
}
else {
const err97 = {instancePath:instancePath+"/scopes/rules/" + i13,schemaPath:"#/properties/scopes/properties/rules/items/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema128.properties.scopes.properties.rules.items.type,parentSchema:schema128.properties.scopes.properties.rules.items,data:data57};
if(vErrors === null){
vErrors = [err97];
}
else {
vErrors.push(err97);
}
errors++;
}
}
}
else {
const err98 = {instancePath:instancePath+"/scopes/rules",schemaPath:"#/properties/scopes/properties/rules/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema128.properties.scopes.properties.rules.type,parentSchema:schema128.properties.scopes.properties.rules,data:data56};
if(vErrors === null){
vErrors = [err98];
}
else {
vErrors.push(err98);
}
errors++;
}
}
if(data55.max_bytes !== undefined){
let data68 = data55.max_bytes;
if((!(((typeof data68 == "number") && (!(data68 % 1) && !isNaN(data68))) && (isFinite(data68)))) && (typeof data68 !== "string")){
const err99 = {instancePath:instancePath+"/scopes/max_bytes",schemaPath:"#/properties/scopes/properties/max_bytes/type",keyword:"type",params:{type: schema128.properties.scopes.properties.max_bytes.type},message:"must be integer,string",schema:schema128.properties.scopes.properties.max_bytes.type,parentSchema:schema128.properties.scopes.properties.max_bytes,data:data68};
if(vErrors === null){
vErrors = [err99];
}
else {
vErrors.push(err99);
}
errors++;
}
const reason5 = checkScalar.call(this, "size", data68, schema128.properties.scopes.properties.max_bytes, instancePath+"/scopes/max_bytes");
if(reason5 !== undefined){
const err100 = {instancePath:instancePath+"/scopes/max_bytes",schemaPath:"#/properties/scopes/properties/max_bytes/x-value",keyword:"x-value",params:{},message:reason5,schema:"size",parentSchema:schema128.properties.scopes.properties.max_bytes,data:data68};
if(vErrors === null){
vErrors = [err100];
}
else {
vErrors.push(err100);
}
errors++;
}
if((typeof data68 == "number") && (isFinite(data68))){
if(data68 < 1 || isNaN(data68)){
const err101 = {instancePath:instancePath+"/scopes/max_bytes",schemaPath:"#/properties/scopes/properties/max_bytes/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema128.properties.scopes.properties.max_bytes,data:data68};
if(vErrors === null){
vErrors = [err101];
}
else {
vErrors.push(err101);
}
errors++;
}
}
}
if(data55.scope_days !== undefined){
let data69 = data55.scope_days;
if((!(((typeof data69 == "number") && (!(data69 % 1) && !isNaN(data69))) && (isFinite(data69)))) && (typeof data69 !== "string")){
const err102 = {instancePath:instancePath+"/scopes/scope_days",schemaPath:"#/properties/scopes/properties/scope_days/type",keyword:"type",params:{type: schema128.properties.scopes.properties.scope_days.type},message:"must be integer,string",schema:schema128.properties.scopes.properties.scope_days.type,parentSchema:schema128.properties.scopes.properties.scope_days,data:data69};
if(vErrors === null){
vErrors = [err102];
}
else {
vErrors.push(err102);
}
errors++;
}
const reason6 = checkScalar.call(this, "count", data69, schema128.properties.scopes.properties.scope_days, instancePath+"/scopes/scope_days");
if(reason6 !== undefined){
const err103 = {instancePath:instancePath+"/scopes/scope_days",schemaPath:"#/properties/scopes/properties/scope_days/x-value",keyword:"x-value",params:{},message:reason6,schema:"count",parentSchema:schema128.properties.scopes.properties.scope_days,data:data69};
if(vErrors === null){
vErrors = [err103];
}
else {
vErrors.push(err103);
}
errors++;
}
if((typeof data69 == "number") && (isFinite(data69))){
if(data69 > 3650 || isNaN(data69)){
const err104 = {instancePath:instancePath+"/scopes/scope_days",schemaPath:"#/properties/scopes/properties/scope_days/maximum",keyword:"maximum",params:{comparison: "<=", limit: 3650},message:"must be <= 3650",schema:3650,parentSchema:schema128.properties.scopes.properties.scope_days,data:data69};
if(vErrors === null){
vErrors = [err104];
}
else {
vErrors.push(err104);
}
errors++;
}
if(data69 < 1 || isNaN(data69)){
const err105 = {instancePath:instancePath+"/scopes/scope_days",schemaPath:"#/properties/scopes/properties/scope_days/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema128.properties.scopes.properties.scope_days,data:data69};
if(vErrors === null){
vErrors = [err105];
}
else {
vErrors.push(err105);
}
errors++;
}
}
}
}
else {
const err106 = {instancePath:instancePath+"/scopes",schemaPath:"#/properties/scopes/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema128.properties.scopes.type,parentSchema:schema128.properties.scopes,data:data55};
if(vErrors === null){
vErrors = [err106];
}
else {
vErrors.push(err106);
}
errors++;
}
}
if(data.request_limits !== undefined){
let data70 = data.request_limits;
if(Array.isArray(data70)){
const len15 = data70.length;
for(let i15=0; i15<len15; i15++){
let data71 = data70[i15];
if(data71 && typeof data71 == "object" && !Array.isArray(data71)){
if(data71.requests_per_s === undefined){
const err107 = {instancePath:instancePath+"/request_limits/" + i15,schemaPath:"#/properties/request_limits/items/required",keyword:"required",params:{missingProperty: "requests_per_s"},message:"must have required property '"+"requests_per_s"+"'",schema:schema128.properties.request_limits.items.required,parentSchema:schema128.properties.request_limits.items,data:data71};
if(vErrors === null){
vErrors = [err107];
}
else {
vErrors.push(err107);
}
errors++;
}
for(const key12 in data71){
if(!(((((((key12 === "requests_per_s") || (key12 === "burst")) || (key12 === "anonymous")) || (key12 === "names")) || (key12 === "groups")) || (key12 === "claims")) || (key12 === "by"))){
const err108 = {instancePath:instancePath+"/request_limits/" + i15,schemaPath:"#/properties/request_limits/items/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key12},message:"must NOT have additional properties",schema:false,parentSchema:schema128.properties.request_limits.items,data:data71};
if(vErrors === null){
vErrors = [err108];
}
else {
vErrors.push(err108);
}
errors++;
}
}
if(data71.requests_per_s !== undefined){
let data72 = data71.requests_per_s;
if((!((typeof data72 == "number") && (isFinite(data72)))) && (typeof data72 !== "string")){
const err109 = {instancePath:instancePath+"/request_limits/" + i15+"/requests_per_s",schemaPath:"#/properties/request_limits/items/properties/requests_per_s/type",keyword:"type",params:{type: schema128.properties.request_limits.items.properties.requests_per_s.type},message:"must be number,string",schema:schema128.properties.request_limits.items.properties.requests_per_s.type,parentSchema:schema128.properties.request_limits.items.properties.requests_per_s,data:data72};
if(vErrors === null){
vErrors = [err109];
}
else {
vErrors.push(err109);
}
errors++;
}
const reason7 = checkScalar.call(this, "number", data72, schema128.properties.request_limits.items.properties.requests_per_s, instancePath+"/request_limits/" + i15+"/requests_per_s");
if(reason7 !== undefined){
const err110 = {instancePath:instancePath+"/request_limits/" + i15+"/requests_per_s",schemaPath:"#/properties/request_limits/items/properties/requests_per_s/x-value",keyword:"x-value",params:{},message:reason7,schema:"number",parentSchema:schema128.properties.request_limits.items.properties.requests_per_s,data:data72};
if(vErrors === null){
vErrors = [err110];
}
else {
vErrors.push(err110);
}
errors++;
}
if((typeof data72 == "number") && (isFinite(data72))){
if(data72 <= 0 || isNaN(data72)){
const err111 = {instancePath:instancePath+"/request_limits/" + i15+"/requests_per_s",schemaPath:"#/properties/request_limits/items/properties/requests_per_s/exclusiveMinimum",keyword:"exclusiveMinimum",params:{comparison: ">", limit: 0},message:"must be > 0",schema:0,parentSchema:schema128.properties.request_limits.items.properties.requests_per_s,data:data72};
if(vErrors === null){
vErrors = [err111];
}
else {
vErrors.push(err111);
}
errors++;
}
}
}
if(data71.burst !== undefined){
let data73 = data71.burst;
if((!(((typeof data73 == "number") && (!(data73 % 1) && !isNaN(data73))) && (isFinite(data73)))) && (typeof data73 !== "string")){
const err112 = {instancePath:instancePath+"/request_limits/" + i15+"/burst",schemaPath:"#/properties/request_limits/items/properties/burst/type",keyword:"type",params:{type: schema128.properties.request_limits.items.properties.burst.type},message:"must be integer,string",schema:schema128.properties.request_limits.items.properties.burst.type,parentSchema:schema128.properties.request_limits.items.properties.burst,data:data73};
if(vErrors === null){
vErrors = [err112];
}
else {
vErrors.push(err112);
}
errors++;
}
const reason8 = checkScalar.call(this, "count", data73, schema128.properties.request_limits.items.properties.burst, instancePath+"/request_limits/" + i15+"/burst");
if(reason8 !== undefined){
const err113 = {instancePath:instancePath+"/request_limits/" + i15+"/burst",schemaPath:"#/properties/request_limits/items/properties/burst/x-value",keyword:"x-value",params:{},message:reason8,schema:"count",parentSchema:schema128.properties.request_limits.items.properties.burst,data:data73};
if(vErrors === null){
vErrors = [err113];
}
else {
vErrors.push(err113);
}
errors++;
}
if((typeof data73 == "number") && (isFinite(data73))){
if(data73 < 1 || isNaN(data73)){
const err114 = {instancePath:instancePath+"/request_limits/" + i15+"/burst",schemaPath:"#/properties/request_limits/items/properties/burst/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema128.properties.request_limits.items.properties.burst,data:data73};
if(vErrors === null){
vErrors = [err114];
}
else {
vErrors.push(err114);
}
errors++;
}
}
}
if(data71.anonymous !== undefined){
let data74 = data71.anonymous;
if((typeof data74 !== "boolean") && (typeof data74 !== "string")){
const err115 = {instancePath:instancePath+"/request_limits/" + i15+"/anonymous",schemaPath:"#/properties/request_limits/items/properties/anonymous/type",keyword:"type",params:{type: schema128.properties.request_limits.items.properties.anonymous.type},message:"must be boolean,string",schema:schema128.properties.request_limits.items.properties.anonymous.type,parentSchema:schema128.properties.request_limits.items.properties.anonymous,data:data74};
if(vErrors === null){
vErrors = [err115];
}
else {
vErrors.push(err115);
}
errors++;
}
const reason9 = checkScalar.call(this, "bool", data74, schema128.properties.request_limits.items.properties.anonymous, instancePath+"/request_limits/" + i15+"/anonymous");
if(reason9 !== undefined){
const err116 = {instancePath:instancePath+"/request_limits/" + i15+"/anonymous",schemaPath:"#/properties/request_limits/items/properties/anonymous/x-value",keyword:"x-value",params:{},message:reason9,schema:"bool",parentSchema:schema128.properties.request_limits.items.properties.anonymous,data:data74};
if(vErrors === null){
vErrors = [err116];
}
else {
vErrors.push(err116);
}
errors++;
}
}
if(data71.names !== undefined){
if(!(validate294.call(this, data71.names, {instancePath:instancePath+"/request_limits/" + i15+"/names",parentData:data71,parentDataProperty:"names",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate294.errors);
errors = vErrors.length;
}
}
if(data71.groups !== undefined){
if(!(validate296.call(this, data71.groups, {instancePath:instancePath+"/request_limits/" + i15+"/groups",parentData:data71,parentDataProperty:"groups",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate296.errors);
errors = vErrors.length;
}
}
if(data71.claims !== undefined){
if(!(validate298.call(this, data71.claims, {instancePath:instancePath+"/request_limits/" + i15+"/claims",parentData:data71,parentDataProperty:"claims",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate298.errors);
errors = vErrors.length;
}
}
if(data71.by !== undefined){
if(!(validate300.call(this, data71.by, {instancePath:instancePath+"/request_limits/" + i15+"/by",parentData:data71,parentDataProperty:"by",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate300.errors);
errors = vErrors.length;
}
}
}
else {
const err117 = {instancePath:instancePath+"/request_limits/" + i15,schemaPath:"#/properties/request_limits/items/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema128.properties.request_limits.items.type,parentSchema:schema128.properties.request_limits.items,data:data71};
if(vErrors === null){
vErrors = [err117];
}
else {
vErrors.push(err117);
}
errors++;
}
}
}
else {
const err118 = {instancePath:instancePath+"/request_limits",schemaPath:"#/properties/request_limits/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema128.properties.request_limits.type,parentSchema:schema128.properties.request_limits,data:data70};
if(vErrors === null){
vErrors = [err118];
}
else {
vErrors.push(err118);
}
errors++;
}
}
if(data.callers_in_results !== undefined){
let data79 = data.callers_in_results;
if(typeof data79 !== "string"){
const err119 = {instancePath:instancePath+"/callers_in_results",schemaPath:"#/properties/callers_in_results/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema128.properties.callers_in_results.type,parentSchema:schema128.properties.callers_in_results,data:data79};
if(vErrors === null){
vErrors = [err119];
}
else {
vErrors.push(err119);
}
errors++;
}
if(!(((data79 === "administrators") || (data79 === "readers")) || (data79 === "nobody"))){
const err120 = {instancePath:instancePath+"/callers_in_results",schemaPath:"#/properties/callers_in_results/enum",keyword:"enum",params:{allowedValues: schema128.properties.callers_in_results.enum},message:"must be equal to one of the allowed values",schema:schema128.properties.callers_in_results.enum,parentSchema:schema128.properties.callers_in_results,data:data79};
if(vErrors === null){
vErrors = [err120];
}
else {
vErrors.push(err120);
}
errors++;
}
}
if(data.audit_log !== undefined){
let data80 = data.audit_log;
if(data80 && typeof data80 == "object" && !Array.isArray(data80)){
if(data80.path === undefined){
const err121 = {instancePath:instancePath+"/audit_log",schemaPath:"#/properties/audit_log/required",keyword:"required",params:{missingProperty: "path"},message:"must have required property '"+"path"+"'",schema:schema128.properties.audit_log.required,parentSchema:schema128.properties.audit_log,data:data80};
if(vErrors === null){
vErrors = [err121];
}
else {
vErrors.push(err121);
}
errors++;
}
for(const key13 in data80){
if(!((((key13 === "path") || (key13 === "calls")) || (key13 === "max_bytes")) || (key13 === "max_files"))){
const err122 = {instancePath:instancePath+"/audit_log",schemaPath:"#/properties/audit_log/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key13},message:"must NOT have additional properties",schema:false,parentSchema:schema128.properties.audit_log,data:data80};
if(vErrors === null){
vErrors = [err122];
}
else {
vErrors.push(err122);
}
errors++;
}
}
if(data80.path !== undefined){
let data81 = data80.path;
if(typeof data81 !== "string"){
const err123 = {instancePath:instancePath+"/audit_log/path",schemaPath:"#/properties/audit_log/properties/path/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema128.properties.audit_log.properties.path.type,parentSchema:schema128.properties.audit_log.properties.path,data:data81};
if(vErrors === null){
vErrors = [err123];
}
else {
vErrors.push(err123);
}
errors++;
}
}
if(data80.calls !== undefined){
let data82 = data80.calls;
if(typeof data82 !== "string"){
const err124 = {instancePath:instancePath+"/audit_log/calls",schemaPath:"#/properties/audit_log/properties/calls/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema128.properties.audit_log.properties.calls.type,parentSchema:schema128.properties.audit_log.properties.calls,data:data82};
if(vErrors === null){
vErrors = [err124];
}
else {
vErrors.push(err124);
}
errors++;
}
if(!((data82 === "all") || (data82 === "refused"))){
const err125 = {instancePath:instancePath+"/audit_log/calls",schemaPath:"#/properties/audit_log/properties/calls/enum",keyword:"enum",params:{allowedValues: schema128.properties.audit_log.properties.calls.enum},message:"must be equal to one of the allowed values",schema:schema128.properties.audit_log.properties.calls.enum,parentSchema:schema128.properties.audit_log.properties.calls,data:data82};
if(vErrors === null){
vErrors = [err125];
}
else {
vErrors.push(err125);
}
errors++;
}
}
if(data80.max_bytes !== undefined){
let data83 = data80.max_bytes;
if((!(((typeof data83 == "number") && (!(data83 % 1) && !isNaN(data83))) && (isFinite(data83)))) && (typeof data83 !== "string")){
const err126 = {instancePath:instancePath+"/audit_log/max_bytes",schemaPath:"#/properties/audit_log/properties/max_bytes/type",keyword:"type",params:{type: schema128.properties.audit_log.properties.max_bytes.type},message:"must be integer,string",schema:schema128.properties.audit_log.properties.max_bytes.type,parentSchema:schema128.properties.audit_log.properties.max_bytes,data:data83};
if(vErrors === null){
vErrors = [err126];
}
else {
vErrors.push(err126);
}
errors++;
}
const reason10 = checkScalar.call(this, "size", data83, schema128.properties.audit_log.properties.max_bytes, instancePath+"/audit_log/max_bytes");
if(reason10 !== undefined){
const err127 = {instancePath:instancePath+"/audit_log/max_bytes",schemaPath:"#/properties/audit_log/properties/max_bytes/x-value",keyword:"x-value",params:{},message:reason10,schema:"size",parentSchema:schema128.properties.audit_log.properties.max_bytes,data:data83};
if(vErrors === null){
vErrors = [err127];
}
else {
vErrors.push(err127);
}
errors++;
}
if((typeof data83 == "number") && (isFinite(data83))){
if(data83 < 1 || isNaN(data83)){
const err128 = {instancePath:instancePath+"/audit_log/max_bytes",schemaPath:"#/properties/audit_log/properties/max_bytes/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema128.properties.audit_log.properties.max_bytes,data:data83};
if(vErrors === null){
vErrors = [err128];
}
else {
vErrors.push(err128);
}
errors++;
}
}
}
if(data80.max_files !== undefined){
let data84 = data80.max_files;
if((!(((typeof data84 == "number") && (!(data84 % 1) && !isNaN(data84))) && (isFinite(data84)))) && (typeof data84 !== "string")){
const err129 = {instancePath:instancePath+"/audit_log/max_files",schemaPath:"#/properties/audit_log/properties/max_files/type",keyword:"type",params:{type: schema128.properties.audit_log.properties.max_files.type},message:"must be integer,string",schema:schema128.properties.audit_log.properties.max_files.type,parentSchema:schema128.properties.audit_log.properties.max_files,data:data84};
if(vErrors === null){
vErrors = [err129];
}
else {
vErrors.push(err129);
}
errors++;
}
const reason11 = checkScalar.call(this, "count", data84, schema128.properties.audit_log.properties.max_files, instancePath+"/audit_log/max_files");
if(reason11 !== undefined){
const err130 = {instancePath:instancePath+"/audit_log/max_files",schemaPath:"#/properties/audit_log/properties/max_files/x-value",keyword:"x-value",params:{},message:reason11,schema:"count",parentSchema:schema128.properties.audit_log.properties.max_files,data:data84};
if(vErrors === null){
vErrors = [err130];
}
else {
vErrors.push(err130);
}
errors++;
}
if((typeof data84 == "number") && (isFinite(data84))){
if(data84 < 0 || isNaN(data84)){
const err131 = {instancePath:instancePath+"/audit_log/max_files",schemaPath:"#/properties/audit_log/properties/max_files/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema128.properties.audit_log.properties.max_files,data:data84};
if(vErrors === null){
vErrors = [err131];
}
else {
vErrors.push(err131);
}
errors++;
}
}
}
}
else {
const err132 = {instancePath:instancePath+"/audit_log",schemaPath:"#/properties/audit_log/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema128.properties.audit_log.type,parentSchema:schema128.properties.audit_log,data:data80};
if(vErrors === null){
vErrors = [err132];
}
else {
vErrors.push(err132);
}
errors++;
}
}
}
else {
const err133 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema128.type,parentSchema:schema128,data};
if(vErrors === null){
vErrors = [err133];
}
else {
vErrors.push(err133);
}
errors++;
}
validate293.errors = vErrors;
return errors === 0;
}
validate293.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};


function validate52(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="https://remexec.invalid/schema/config.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate52.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.stores === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "stores"},message:"must have required property '"+"stores"+"'",schema:schema19.required,parentSchema:schema19,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.servers === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "servers"},message:"must have required property '"+"servers"+"'",schema:schema19.required,parentSchema:schema19,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
for(const key0 in data){
if(!((((((((key0 === "stores") || (key0 === "schedulers")) || (key0 === "workers")) || (key0 === "servers")) || (key0 === "instances")) || (key0 === "global")) || (key0 === "security")) || (key0 === "experimental_origin_events"))){
const err2 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema19,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.stores !== undefined){
let data0 = data.stores;
if(!data0 || typeof data0 != "object"){
const err3 = {instancePath:instancePath+"/stores",schemaPath:"#/properties/stores/type",keyword:"type",params:{type: schema19.properties.stores.type},message:"must be array,object",schema:schema19.properties.stores.type,parentSchema:schema19.properties.stores,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(Array.isArray(data0)){
const len0 = data0.length;
for(let i0=0; i0<len0; i0++){
if(!(validate53.call(this, data0[i0], {instancePath:instancePath+"/stores/" + i0,parentData:data0,parentDataProperty:i0,rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate53.errors);
errors = vErrors.length;
}
}
}
if(data0 && typeof data0 == "object" && !Array.isArray(data0)){
for(const key1 in data0){
if(!(validate53.call(this, data0[key1], {instancePath:instancePath+"/stores/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),parentData:data0,parentDataProperty:key1,rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate53.errors);
errors = vErrors.length;
}
}
}
}
if(data.schedulers !== undefined){
let data3 = data.schedulers;
if(!data3 || typeof data3 != "object"){
const err4 = {instancePath:instancePath+"/schedulers",schemaPath:"#/properties/schedulers/type",keyword:"type",params:{type: schema19.properties.schedulers.type},message:"must be array,object",schema:schema19.properties.schedulers.type,parentSchema:schema19.properties.schedulers,data:data3};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
if(Array.isArray(data3)){
const len1 = data3.length;
for(let i1=0; i1<len1; i1++){
if(!(validate136.call(this, data3[i1], {instancePath:instancePath+"/schedulers/" + i1,parentData:data3,parentDataProperty:i1,rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate136.errors);
errors = vErrors.length;
}
}
}
if(data3 && typeof data3 == "object" && !Array.isArray(data3)){
for(const key2 in data3){
if(!(validate136.call(this, data3[key2], {instancePath:instancePath+"/schedulers/" + key2.replace(/~/g, "~0").replace(/\//g, "~1"),parentData:data3,parentDataProperty:key2,rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate136.errors);
errors = vErrors.length;
}
}
}
}
if(data.workers !== undefined){
let data6 = data.workers;
if(!data6 || typeof data6 != "object"){
const err5 = {instancePath:instancePath+"/workers",schemaPath:"#/properties/workers/type",keyword:"type",params:{type: schema19.properties.workers.type},message:"must be array,object",schema:schema19.properties.workers.type,parentSchema:schema19.properties.workers,data:data6};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if(Array.isArray(data6)){
const len2 = data6.length;
for(let i2=0; i2<len2; i2++){
if(!(validate152.call(this, data6[i2], {instancePath:instancePath+"/workers/" + i2,parentData:data6,parentDataProperty:i2,rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate152.errors);
errors = vErrors.length;
}
}
}
if(data6 && typeof data6 == "object" && !Array.isArray(data6)){
for(const key3 in data6){
if(!(validate152.call(this, data6[key3], {instancePath:instancePath+"/workers/" + key3.replace(/~/g, "~0").replace(/\//g, "~1"),parentData:data6,parentDataProperty:key3,rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate152.errors);
errors = vErrors.length;
}
}
}
}
if(data.servers !== undefined){
let data9 = data.servers;
if(!data9 || typeof data9 != "object"){
const err6 = {instancePath:instancePath+"/servers",schemaPath:"#/properties/servers/type",keyword:"type",params:{type: schema19.properties.servers.type},message:"must be array,object",schema:schema19.properties.servers.type,parentSchema:schema19.properties.servers,data:data9};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if(Array.isArray(data9)){
const len3 = data9.length;
for(let i3=0; i3<len3; i3++){
if(!(validate232.call(this, data9[i3], {instancePath:instancePath+"/servers/" + i3,parentData:data9,parentDataProperty:i3,rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate232.errors);
errors = vErrors.length;
}
}
}
if(data9 && typeof data9 == "object" && !Array.isArray(data9)){
for(const key4 in data9){
if(!(validate232.call(this, data9[key4], {instancePath:instancePath+"/servers/" + key4.replace(/~/g, "~0").replace(/\//g, "~1"),parentData:data9,parentDataProperty:key4,rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate232.errors);
errors = vErrors.length;
}
}
}
}
if(data.instances !== undefined){
let data12 = data.instances;
if(!data12 || typeof data12 != "object"){
const err7 = {instancePath:instancePath+"/instances",schemaPath:"#/properties/instances/type",keyword:"type",params:{type: schema19.properties.instances.type},message:"must be array,object",schema:schema19.properties.instances.type,parentSchema:schema19.properties.instances,data:data12};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
if(Array.isArray(data12)){
const len4 = data12.length;
for(let i4=0; i4<len4; i4++){
if(!(validate288.call(this, data12[i4], {instancePath:instancePath+"/instances/" + i4,parentData:data12,parentDataProperty:i4,rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate288.errors);
errors = vErrors.length;
}
}
}
if(data12 && typeof data12 == "object" && !Array.isArray(data12)){
for(const key5 in data12){
if(!(validate288.call(this, data12[key5], {instancePath:instancePath+"/instances/" + key5.replace(/~/g, "~0").replace(/\//g, "~1"),parentData:data12,parentDataProperty:key5,rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate288.errors);
errors = vErrors.length;
}
}
}
}
if(data.global !== undefined){
if(!(validate291.call(this, data.global, {instancePath:instancePath+"/global",parentData:data,parentDataProperty:"global",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate291.errors);
errors = vErrors.length;
}
}
if(data.security !== undefined){
if(!(validate293.call(this, data.security, {instancePath:instancePath+"/security",parentData:data,parentDataProperty:"security",rootData,dynamicAnchors}))){
vErrors = appended(vErrors, validate293.errors);
errors = vErrors.length;
}
}
if(data.experimental_origin_events !== undefined){
let data17 = data.experimental_origin_events;
if(data17 && typeof data17 == "object" && !Array.isArray(data17)){
if(data17.publisher === undefined){
const err8 = {instancePath:instancePath+"/experimental_origin_events",schemaPath:"#/properties/experimental_origin_events/required",keyword:"required",params:{missingProperty: "publisher"},message:"must have required property '"+"publisher"+"'",schema:schema19.properties.experimental_origin_events.required,parentSchema:schema19.properties.experimental_origin_events,data:data17};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
for(const key6 in data17){
if(!((key6 === "publisher") || (key6 === "max_event_queue_size"))){
const err9 = {instancePath:instancePath+"/experimental_origin_events",schemaPath:"#/properties/experimental_origin_events/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key6},message:"must NOT have additional properties",schema:false,parentSchema:schema19.properties.experimental_origin_events,data:data17};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
if(data17.publisher !== undefined){
let data18 = data17.publisher;
if(data18 && typeof data18 == "object" && !Array.isArray(data18)){
if(data18.store === undefined){
const err10 = {instancePath:instancePath+"/experimental_origin_events/publisher",schemaPath:"#/properties/experimental_origin_events/properties/publisher/required",keyword:"required",params:{missingProperty: "store"},message:"must have required property '"+"store"+"'",schema:schema19.properties.experimental_origin_events.properties.publisher.required,parentSchema:schema19.properties.experimental_origin_events.properties.publisher,data:data18};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
for(const key7 in data18){
if(!(key7 === "store")){
const err11 = {instancePath:instancePath+"/experimental_origin_events/publisher",schemaPath:"#/properties/experimental_origin_events/properties/publisher/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key7},message:"must NOT have additional properties",schema:false,parentSchema:schema19.properties.experimental_origin_events.properties.publisher,data:data18};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
if(data18.store !== undefined){
let data19 = data18.store;
if(typeof data19 !== "string"){
const err12 = {instancePath:instancePath+"/experimental_origin_events/publisher/store",schemaPath:"#/properties/experimental_origin_events/properties/publisher/properties/store/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema19.properties.experimental_origin_events.properties.publisher.properties.store.type,parentSchema:schema19.properties.experimental_origin_events.properties.publisher.properties.store,data:data19};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
}
else {
const err13 = {instancePath:instancePath+"/experimental_origin_events/publisher",schemaPath:"#/properties/experimental_origin_events/properties/publisher/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema19.properties.experimental_origin_events.properties.publisher.type,parentSchema:schema19.properties.experimental_origin_events.properties.publisher,data:data18};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
}
if(data17.max_event_queue_size !== undefined){
let data20 = data17.max_event_queue_size;
if((!(((typeof data20 == "number") && (!(data20 % 1) && !isNaN(data20))) && (isFinite(data20)))) && (typeof data20 !== "string")){
const err14 = {instancePath:instancePath+"/experimental_origin_events/max_event_queue_size",schemaPath:"#/properties/experimental_origin_events/properties/max_event_queue_size/type",keyword:"type",params:{type: schema19.properties.experimental_origin_events.properties.max_event_queue_size.type},message:"must be integer,string",schema:schema19.properties.experimental_origin_events.properties.max_event_queue_size.type,parentSchema:schema19.properties.experimental_origin_events.properties.max_event_queue_size,data:data20};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
const reason0 = checkScalar.call(this, "count", data20, schema19.properties.experimental_origin_events.properties.max_event_queue_size, instancePath+"/experimental_origin_events/max_event_queue_size");
if(reason0 !== undefined){
const err15 = {instancePath:instancePath+"/experimental_origin_events/max_event_queue_size",schemaPath:"#/properties/experimental_origin_events/properties/max_event_queue_size/x-value",keyword:"x-value",params:{},message:reason0,schema:"count",parentSchema:schema19.properties.experimental_origin_events.properties.max_event_queue_size,data:data20};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
if((typeof data20 == "number") && (isFinite(data20))){
if(data20 < 0 || isNaN(data20)){
const err16 = {instancePath:instancePath+"/experimental_origin_events/max_event_queue_size",schemaPath:"#/properties/experimental_origin_events/properties/max_event_queue_size/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema19.properties.experimental_origin_events.properties.max_event_queue_size,data:data20};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
}
}
}
else {
const err17 = {instancePath:instancePath+"/experimental_origin_events",schemaPath:"#/properties/experimental_origin_events/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema19.properties.experimental_origin_events.type,parentSchema:schema19.properties.experimental_origin_events,data:data17};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
}
}
else {
const err18 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema19.type,parentSchema:schema19,data};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
validate52.errors = vErrors;
return errors === 0;
}
validate52.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const appended = (errors, more) => { if (errors === null) return more; for (const one of more) errors.push(one); return errors }
