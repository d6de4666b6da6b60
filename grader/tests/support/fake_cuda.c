/* The CUDA driver calls that grader/sandbox/inside/cuda.py makes, backed by host memory (memfd) instead of a GPU.
 * File descriptors, mappings and their lifetimes are real. Documented errors occur for wrong flags, sizes that are not
 * a multiple of the granularity, access without a mapping, and invalid descriptors. cuInit and the first context make
 * the system calls that the driver is known to make.
 * The call named by FAKE_CUDA_FAILS fails. FAKE_CUDA_LACKS is the number of an attribute that the device lacks. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define GRANULARITY ((size_t)2 << 20)
enum { SUCCESS, INVALID_VALUE, OUT_OF_MEMORY, NOT_INITIALIZED, UNKNOWN = 999 };

typedef struct { int type, id; } Location;
typedef struct {
    int type, handles;
    Location location;
    void *win32;
    struct { uint8_t compression, rdma; uint16_t usage; uint8_t reserved[4]; } flags;
} Properties;
typedef struct { Location location; int flags; } Access;

#define MAY_FAIL do { const char *name = getenv("FAKE_CUDA_FAILS"); if (name && !strcmp(name, __func__)) return UNKNOWN; } while (0)
#define MUST_BE_INITIALIZED do { if (!initialized) return NOT_INITIALIZED; MAY_FAIL; } while (0)
static int initialized;
static int descriptor_of(uint64_t handle) { return (int)handle - 1; }

static int listens(void) {
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int length = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "cuda-uvmfd-%d", (int)getpid());
    int line = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
    int well = line >= 0 && !bind(line, (struct sockaddr *)&address, size) && !listen(line, 16);
    if (line >= 0) close(line);
    return well;
}

static int opens(const char *path, int flags) {
    int file = open(path, flags | O_CLOEXEC, 0600);
    if (file >= 0) close(file);
    return file >= 0;
}

int cuInit(unsigned flags) {
    MAY_FAIL;
    int memory = memfd_create("driver", MFD_CLOEXEC);
    if (memory < 0 || close(memory) || !listens()) return UNKNOWN;
    initialized = !flags;
    return flags ? INVALID_VALUE : SUCCESS;
}

int cuDeviceGetCount(int *count) { MUST_BE_INITIALIZED; *count = 1; return SUCCESS; }

int cuDevicePrimaryCtxRetain(void **context, int device) {
    MUST_BE_INITIALIZED;
    char name[64], shared[64];
    snprintf(name, sizeof name, "/proc/self/task/%d/comm", (int)gettid());
    snprintf(shared, sizeof shared, "/dev/shm/cuda.shm.%d", (int)getpid());
    if (!opens(shared, O_RDWR | O_CREAT) || unlink(shared) || !opens(name, O_WRONLY)) return UNKNOWN;
    *context = NULL;
    return device ? INVALID_VALUE : SUCCESS;
}

int cuDeviceGetAttribute(int *value, int attribute, int device) {
    MUST_BE_INITIALIZED;
    const char *lacks = getenv("FAKE_CUDA_LACKS");
    *value = (attribute == 102 || attribute == 103) && !(lacks && atoi(lacks) == attribute);
    return device ? INVALID_VALUE : SUCCESS;
}

int cuMemGetAllocationGranularity(size_t *granularity, const Properties *p, int option) {
    MUST_BE_INITIALIZED;
    if (p->type != 1 || p->location.type != 1 || option != 0) return INVALID_VALUE;
    *granularity = GRANULARITY;
    return SUCCESS;
}

int cuMemCreate(uint64_t *handle, size_t size, const Properties *p, uint64_t flags) {
    MUST_BE_INITIALIZED;
    if (size % GRANULARITY || !size || p->type != 1 || p->handles != 1 || p->location.type != 1 || flags) return INVALID_VALUE;
    int fd = memfd_create("device", MFD_CLOEXEC);
    if (fd < 0) return OUT_OF_MEMORY;
    if (ftruncate(fd, (off_t)size)) { close(fd); return OUT_OF_MEMORY; }
    *handle = (uint64_t)fd + 1;
    return SUCCESS;
}

int cuMemExportToShareableHandle(void *out, uint64_t handle, int type, uint64_t flags) {
    MUST_BE_INITIALIZED;
    int fd = type == 1 && !flags ? dup(descriptor_of(handle)) : -1;
    if (fd < 0) return INVALID_VALUE;
    *(int *)out = fd;
    return SUCCESS;
}

int cuMemImportFromShareableHandle(uint64_t *handle, void *descriptor, int type) {
    MUST_BE_INITIALIZED;
    int fd = type == 1 ? dup((int)(uintptr_t)descriptor) : -1;
    if (fd < 0) return INVALID_VALUE;
    *handle = (uint64_t)fd + 1;
    return SUCCESS;
}

int cuMemAddressReserve(uint64_t *address, size_t size, size_t alignment, uint64_t at, uint64_t flags) {
    MUST_BE_INITIALIZED;
    if (size % GRANULARITY || alignment || at || flags) return INVALID_VALUE;
    void *found = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (found == MAP_FAILED) return OUT_OF_MEMORY;
    *address = (uint64_t)(uintptr_t)found;
    return SUCCESS;
}

int cuMemMap(uint64_t address, size_t size, size_t offset, uint64_t handle, uint64_t flags) {
    MUST_BE_INITIALIZED;
    if (offset || flags || size % GRANULARITY) return INVALID_VALUE;
    void *found = mmap((void *)(uintptr_t)address, size, PROT_NONE, MAP_SHARED | MAP_FIXED, descriptor_of(handle), 0);
    return found == MAP_FAILED ? INVALID_VALUE : SUCCESS;
}

int cuMemSetAccess(uint64_t address, size_t size, const Access *access, size_t count) {
    MUST_BE_INITIALIZED;
    if (count != 1 || access->location.type != 1 || access->flags != 3) return INVALID_VALUE;
    return mprotect((void *)(uintptr_t)address, size, PROT_READ | PROT_WRITE) ? INVALID_VALUE : SUCCESS;
}

int cuMemUnmap(uint64_t address, size_t size) {
    MUST_BE_INITIALIZED;
    void *found = mmap((void *)(uintptr_t)address, size, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    return found == MAP_FAILED ? INVALID_VALUE : SUCCESS;
}

int cuMemAddressFree(uint64_t address, size_t size) {
    MUST_BE_INITIALIZED;
    return munmap((void *)(uintptr_t)address, size) ? INVALID_VALUE : SUCCESS;
}

int cuMemRelease(uint64_t handle) { MUST_BE_INITIALIZED; return close(descriptor_of(handle)) ? INVALID_VALUE : SUCCESS; }
